package slack

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
)

// each runs a test over every way in.
func each(t *testing.T, test func(t *testing.T, world slacktest.Config)) {
	t.Helper()
	for name, world := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, world)
		})
	}
}

func TestMentionIsHeardOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world slacktest.Config) {
		r := listen(t, world, nil)
		ts := r.Mention(slacktest.Ann, slacktest.General, "", "tidy &lt;up&gt; with <@U2>")
		in := r.one()
		if in.Where != general(ts) || in.Message != general(ts) || in.Missed {
			t.Errorf("it was said at %v, %v", in.Where, in.Message)
		}
		if got := said(t, in); got.Text != "tidy <up> with @ben" || !got.To || got.Direct {
			t.Errorf("heard %+v", got)
		}
		if want := (bot.Person{ID: "slack:U1", Name: "ann", Full: true, Zone: "Europe/Berlin"}); !cmp.Equal(in.By, want) {
			t.Errorf("by %+v", in.By)
		}
		if len(in.Keys) != 2 || in.Keys[1] != "slack:T1:C1:"+ts {
			t.Errorf("keys %q", in.Keys)
		}
		if n := r.All(); n != 2 {
			t.Errorf("the two events of a mention were heard %d times", n)
		}
	})
}

func TestWhatIsHeardOfMessages(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, func(c *Config) { c.AllowBots = []string{"slack:BGOOD"} })
	r.AddUser(slacktest.User{ID: "UGOOD", Bot: true, BotID: "BGOOD"})
	r.AddUser(slacktest.User{ID: "UBAD", Bot: true, BotID: "BBAD"})
	r.Say(slacktest.Ann, slacktest.General, "", "chatter")
	root := r.Say(slacktest.Ann, slacktest.General, "", "more chatter")
	r.Say(slacktest.Ben, slacktest.General, root, "a reply")
	r.Mention("UBAD", slacktest.General, "", "spam")
	r.Mention("UGOOD", slacktest.General, "", "alert")
	r.DM(slacktest.Ann, "hello", slacktest.Upload{Name: "a.txt", Data: []byte("abc")})
	r.settled()
	heard := r.Hears(3)
	if len(heard) != 3 {
		t.Fatalf("heard %+v", heard)
	}
	for _, in := range heard {
		switch s := said(t, in); s.Text {
		case "a reply":
			if s.To || in.Where != general(root) || in.By.ID != "slack:U2" {
				t.Errorf("%+v", in)
			}
		case "alert":
			if !in.By.Bot || in.By.ID != "slack:BGOOD" || in.By.Full {
				t.Errorf("by %+v", in.By)
			}
		case "hello":
			if !s.To || !s.Direct || len(s.Files) != 1 || s.Files[0].Name != "a.txt" || s.Files[0].Size != 3 || s.Files[0].URL == "" || s.Files[0].By != "slack:U1" {
				t.Errorf("%+v", s)
			}
		default:
			t.Errorf("heard %q", s.Text)
		}
	}
}

func TestGuestsAndStrangersAreNoFullMembers(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, func(c *Config) { c.Groups = []string{"S1", "S404"} })
	r.AddGroup(slacktest.UserGroup{ID: "S1", Handle: "ops", Users: []string{slacktest.Ben, slacktest.Guest}})
	for i, who := range []string{slacktest.Guest, slacktest.Stranger, slacktest.Ben} {
		r.Mention(who, slacktest.General, "", "hi")
		in := r.Hears(i + 1)[i]
		if in.By.Full != (who == slacktest.Ben) {
			t.Errorf("%s is full: %v", who, in.By.Full)
		}
		if operator := len(in.By.Also) == 1 && in.By.Also[0] == "slack:S1"; operator != (who != slacktest.Stranger) {
			t.Errorf("%s is also %q", who, in.By.Also)
		}
	}
	if n := r.Count("usergroups.users.list"); n > 2 {
		t.Errorf("asked for groups %d times", n)
	}
}

func TestPeopleWhoCannotBeAskedForCallForAnotherDelivery(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Fail("users.info", 2, slacktest.Unavailable())
	r.Mention(slacktest.Ann, slacktest.General, "", "hi")
	if in := r.Hears(1)[0]; !in.By.Full {
		t.Errorf("by %+v", in.By)
	}
}

func TestAcknowledgedOnlyWhenWrittenDown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world slacktest.Config) {
		world.Mentions = slacktest.OnlyAppMention
		r := listen(t, world, nil)
		var tries atomic.Int32
		r.Answers(func(bot.Inbound) (bot.Answer, error) {
			if tries.Add(1) < 3 {
				return bot.Answer{}, errAway
			}
			return bot.Answer{}, nil
		})
		r.Mention(slacktest.Ann, slacktest.General, "", "hi")
		r.Hears(1)
		r.settled()
		for i, d := range r.Deliveries() {
			if d.Acked.IsZero() == (i == 2) {
				t.Errorf("attempt %d: acknowledged %v, %s", i, d.Acked, d.Error)
			}
		}
	})
}

func TestThreadsKeepTheirOrderAndDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{NoEcho: true}, nil)
	stuck := make(chan struct{})
	slow := r.Say(slacktest.Ann, slacktest.General, "", "slow")
	fast := r.Say(slacktest.Ann, slacktest.General, "", "fast")
	r.Answers(func(in bot.Inbound) (bot.Answer, error) {
		if in.Where.ID == slow {
			<-stuck
		}
		return bot.Answer{}, nil
	})
	for i := range 20 {
		r.Say(slacktest.Ann, slacktest.General, slow, strconv.Itoa(i))
		r.Say(slacktest.Ben, slacktest.General, fast, strconv.Itoa(i))
	}
	r.Hears(20)
	close(stuck)
	next := map[string]int{}
	for _, in := range r.Hears(40) {
		if got := said(t, in).Text; got != strconv.Itoa(next[in.Where.ID]) {
			t.Errorf("%s came where %d was next", got, next[in.Where.ID])
		}
		next[in.Where.ID]++
	}
}

func TestClicksCommandsFormsAndShortcuts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world slacktest.Config) {
		r := listen(t, world, nil)
		form := &bot.Form{ID: "deny X", Title: "Deny", Intro: "**why?**", Fields: []bot.Field{
			{ID: "reason", Label: "Reason", Kind: bot.FieldLong, Value: "no", Max: 2}, {ID: "how", Label: "How", Kind: bot.FieldChoice, Choices: []string{"a", "b"}, Value: "b"},
			{ID: "who", Label: "Who", Kind: bot.FieldPeople, Value: "slack:U2"}, {ID: "none", Label: "None", Kind: bot.FieldText, Optional: true}}}
		r.Answers(func(in bot.Inbound) (bot.Answer, error) {
			if _, is := in.Act.(bot.Pressed); is {
				return bot.Answer{Form: form}, nil
			}
			return bot.Answer{}, nil
		})
		posted := mustPost(t, r.s, general(""), bot.Card{Key: bot.Key{Run: "r1", Name: "ask", Kind: "checkpoint"}, Text: "May I?",
			Parts: []bot.Part{bot.Buttons{List: []bot.Button{{Label: "Deny", Act: bot.ActDecide, ID: "c1", Word: "deny"}}}, bot.Rating{Run: "r1"}}})
		if err := r.Click(slacktest.Ann, slacktest.General, posted.Message.ID, "Deny"); err != nil {
			t.Fatal(err)
		}
		in := r.Hears(1)[0]
		if want := (bot.Button{Label: "Deny", Act: bot.ActDecide, ID: "c1", Word: "deny"}); in.Act != (bot.Pressed{Button: want}) || in.Where != posted.Thread || in.Message != posted.Message {
			t.Errorf("%+v", in)
		}
		var modal slacktest.View
		r.until("a form is open", func() (open bool) { modal, open = r.Modal(slacktest.Ann); return open })
		if _, err := r.Submit(modal.ID, slacktest.Ann, map[string]string{"reason": "ah", "who": "U2,U1"}); err != nil {
			t.Fatal(err)
		}
		in = r.Hears(2)[1]
		want := bot.Filled{Form: "deny X", Values: map[string]string{"reason": "ah", "how": "b", "who": "slack:U2 slack:U1", "none": ""}}
		if diff := cmp.Diff(bot.Act(want), in.Act); diff != "" || in.Where != posted.Thread {
			t.Errorf("%v: %s", in.Where, diff)
		}
		r.Answers(nil)
		if err := r.Click(slacktest.Ann, slacktest.General, posted.Message.ID, "negative"); err != nil {
			t.Fatal(err)
		}
		if got := r.Hears(3)[2].Act; got != (bot.Pressed{Button: bot.Button{Act: bot.ActRate, ID: "r1", Word: "-1"}}) {
			t.Errorf("%+v", got)
		}
		if err := r.Slash(slacktest.Ben, slacktest.General, "run &amp; hide"); err != nil {
			t.Fatal(err)
		}
		if in := r.Hears(4)[3]; in.Act != (bot.Commanded{Text: "run & hide"}) || in.Where != general("") || in.By.Name != "ben" {
			t.Errorf("%+v", in)
		}
		ts := r.Say(slacktest.Ben, slacktest.General, "", "the door is broken")
		if err := r.MessageShortcut(slacktest.Ann, slacktest.General, ts, "goal_from_message"); err != nil {
			t.Fatal(err)
		}
		in = r.Hears(5)[4]
		if s := said(t, in); s.Quote != "slack:U2" || s.Text != "the door is broken" || !s.To || in.By.ID != "slack:U1" || in.Where != general(ts) {
			t.Errorf("%+v", in)
		}
		if err := r.Shortcut(slacktest.Ann, "new_goal"); err != nil {
			t.Fatal(err)
		}
		if in := r.Hears(6)[5]; in.Act != (bot.Pressed{Button: bot.Button{Act: bot.ActStart}}) || in.Where.Channel != r.IM(slacktest.Ann) {
			t.Errorf("%+v", in)
		}
		if _, err := r.s.ShowSession(t.Context(), general(ts), bot.Session{Status: bot.SessionWorking}, bot.Session{}); err != nil {
			t.Fatal(err)
		}
		if err := r.Stop(slacktest.Ann, slacktest.General, ts); err != nil {
			t.Fatal(err)
		}
		if in := r.Hears(7)[6]; in.Act != (bot.Stopped{}) || in.Where != general(ts) {
			t.Errorf("%+v", in)
		}
		if err := r.MessageShortcut(slacktest.Ann, slacktest.General, ts, "remember_message"); err != nil {
			t.Fatal(err)
		}
		if in := r.Hears(8)[7]; in.Act != (bot.Commanded{Text: "remember the door is broken", Quote: "slack:U2"}) || in.By.ID != "slack:U1" || in.Where != general(ts) {
			t.Errorf("%+v", in)
		}
		r.OpenHome(slacktest.Ann)
		if in := r.Hears(9)[8]; in.Act != (bot.Visited{}) || in.By.ID != "slack:U1" {
			t.Errorf("%+v", in)
		}
	})
}

func TestEditsAreCorrectionsWhereARunLives(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	lives := r.Mention(slacktest.Ann, slacktest.General, "", "paint it red")
	idle := r.Say(slacktest.Ann, slacktest.General, "", "chatter")
	r.Hears(1)
	if err := r.Names.SetValue(t.Context(), "thread/"+general(lives).String(), "r1"); err != nil {
		t.Fatal(err)
	}
	for ts, text := range map[string]string{lives: "<@UBOT> paint it blue", idle: "chat"} {
		if err := r.EditMessage(slacktest.Ann, slacktest.General, ts, text); err != nil {
			t.Fatal(err)
		}
	}
	in := r.Hears(2)[1]
	if s := said(t, in); s.Text != "Correction of an earlier message: paint it blue" || s.To || in.Where != general(lives) {
		t.Errorf("%+v", in)
	}
	if err := r.EditMessage(slacktest.Ann, slacktest.General, idle, "<@UBOT> chat"); err != nil {
		t.Fatal(err)
	}
	if s := said(t, r.Hears(3)[2]); s.Text != "chat" || !s.To {
		t.Errorf("%+v", s)
	}
}

func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	card := &bot.Card{Key: bot.Key{Run: "r1", Name: "answer", Kind: "answer"}, Text: "Hello", Parts: []bot.Part{bot.Prose{Markdown: "Hello"}}}
	r.Answers(func(bot.Inbound) (bot.Answer, error) {
		return bot.Answer{Mark: bot.MarkSeen, Private: "for **you** alone", Public: card, Home: card}, nil
	})
	r.Fail("chat.postMessage", 1, slacktest.LostAnswer())
	ts := r.Mention(slacktest.Ann, slacktest.General, "", "hi")
	r.until("all is answered", func() bool {
		m, _ := r.Message(slacktest.General, ts)
		_, home := r.Home(slacktest.Ann)
		return len(m.Reactions) == 1 && m.Reactions[0].Name == "eyes" && len(r.Ephemerals(slacktest.Ann)) == 1 && home
	})
	if e := r.Ephemerals(slacktest.Ann)[0]; e.ThreadTS != ts {
		t.Errorf("the private answer stands at %s", e.ThreadTS)
	}
	if n := len(r.FromBot()); n != 1 {
		t.Errorf("%d posts, want the one whose answer was lost", n)
	}
}

func TestAnExpiredClickIsTold(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{TriggerLife: time.Nanosecond}, nil)
	r.Answers(func(bot.Inbound) (bot.Answer, error) {
		return bot.Answer{Form: &bot.Form{ID: "f", Title: "T", Fields: []bot.Field{{ID: "a", Label: "A", Kind: bot.FieldText}}}}, nil
	})
	if err := r.Slash(slacktest.Ann, slacktest.General, "run"); err != nil {
		t.Fatal(err)
	}
	r.until("it is told", func() bool {
		e := r.Ephemerals(slacktest.Ann)
		return len(e) == 1 && strings.Contains(e[0].Text, "click again")
	})
}

func TestListenNamesTheVariable(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, t.Output())
	s.cfg.AppToken, s.cfg.SigningSecret = "", ""
	if err := s.Listen(t.Context(), nil); !errors.Is(err, bot.ErrRefused) || !strings.Contains(err.Error(), "SLACK_APP_TOKEN") {
		t.Errorf("without a way in: %v", err)
	}
	w.Fail("apps.connections.open", 1, slacktest.APIError("invalid_auth"))
	s.cfg.AppToken = "xapp-wrong"
	if err := s.Listen(t.Context(), nil); !errors.Is(err, bot.ErrRefused) || !strings.Contains(err.Error(), "SLACK_APP_TOKEN") {
		t.Errorf("with a wrong app token: %v", err)
	}
	w.Fail("auth.test", 1, slacktest.APIError("token_revoked"))
	if _, err := New(t.Context(), s.cfg); !errors.Is(err, bot.ErrRefused) || !strings.Contains(err.Error(), "SLACK_BOT_TOKEN") {
		t.Errorf("with a wrong bot token: %v", err)
	}
}

func TestAPrivateAnswerWhereTheBotIsNoMember(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.AddChannel(slacktest.Channel{ID: "C2", Name: "elsewhere", Members: []string{slacktest.Ann}})
	r.Answers(func(bot.Inbound) (bot.Answer, error) { return bot.Answer{Private: "nothing is running"}, nil })
	if err := r.Slash(slacktest.Ann, "C2", "status"); err != nil {
		t.Fatal(err)
	}
	r.until("it is answered", func() bool { return len(r.Ephemerals(slacktest.Ann)) == 1 })
	if e := r.Ephemerals(slacktest.Ann)[0]; !e.Hook || e.Channel != "C2" {
		t.Errorf("%+v", e)
	}
}

func TestDeletionsAreHeardWhereARunLives(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	lives := r.Mention(slacktest.Ann, slacktest.General, "", "paint it red")
	idle := r.Say(slacktest.Ann, slacktest.General, "", "chatter")
	steering := r.Say(slacktest.Ben, slacktest.General, lives, "no, green")
	beside := r.Say(slacktest.Ben, slacktest.General, idle, "yes")
	if err := r.Names.SetValue(t.Context(), "thread/"+general(lives).String(), "r1"); err != nil {
		t.Fatal(err)
	}
	heard := len(r.Hears(3))
	for _, ts := range []string{beside, steering} {
		if err := r.DeleteMessage(slacktest.General, ts); err != nil {
			t.Fatal(err)
		}
	}
	in := r.Hears(heard + 1)[heard]
	want := []string{general(steering).String() + ":deleted"}
	if in.Act != (bot.Unsaid{}) || in.Where != general(lives) || in.Message != general(steering) || !slices.Equal(in.Keys[len(in.Keys)-1:], want) {
		t.Errorf("heard %+v", in)
	}
}
