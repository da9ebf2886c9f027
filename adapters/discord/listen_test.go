package discord

import (
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

func TestMentionIsHeardOnce(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Run: "r", Started: true, Mark: bot.MarkSeen})
	r.FailEvents(1, discordtest.EventFault{Twice: true})
	id := r.Mention(discordtest.Ann, discordtest.General, "tidy up with <@"+discordtest.Ben+">")
	r.HeardAll(2)
	heard := r.Hears(1)
	in := heard[0]
	if len(heard) != 1 || in.Where != general(id) || in.Message != general(id) || in.Missed {
		t.Errorf("heard %+v", heard)
	}
	if got := saying(t, in); got.Text != "tidy up with @Ben" || !got.To || got.Direct {
		t.Errorf("heard %+v", got)
	}
	want := bot.Person{ID: "discord:" + discordtest.Ann, Name: "Ann", Full: true,
		Also: []string{"discord:&" + discordtest.Guild, "discord:&" + discordtest.Crew}}
	if !cmp.Equal(in.By, want) {
		t.Errorf("by %+v", in.By)
	}
	if want := []string{"discord:" + discordtest.Guild + ":" + discordtest.General + ":" + id}; !cmp.Equal(in.Keys, want) {
		t.Errorf("keys %q", in.Keys)
	}
	r.until("the message is marked", func() bool {
		m, _ := r.Message(discordtest.General, id)
		return len(m.Reactions) == 1 && m.Reactions[0].Name == "👀"
	})
}

func TestWhatIsHeardOfMessages(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, func(c *Config) { c.AllowBots = []string{"discord:" + discordtest.Robot} })
	thread, err := r.StartThread(discordtest.Ann, discordtest.General, r.Say(discordtest.Ann, discordtest.General, "chatter"), "a thread")
	if err != nil {
		t.Fatal(err)
	}
	r.Say(discordtest.Ben, thread, "chatter that the bot may not read")
	inThread := r.Mention(discordtest.Ben, thread, "in the thread")
	r.Mention(discordtest.Robot, discordtest.General, "alert")
	r.DM(discordtest.Ann, "hello", discordtest.Upload{Name: "a.txt", Data: []byte("abc")})
	heard := r.Hears(3)
	for _, in := range heard {
		switch s := saying(t, in); s.Text {
		case "in the thread":
			if in.Where != general(thread) || in.Message != api.Address(discordtest.Guild, thread, inThread) || in.By.ID != "discord:"+discordtest.Ben {
				t.Errorf("%+v", in)
			}
		case "alert":
			if !in.By.Bot || in.By.ID != "discord:"+discordtest.Robot || in.By.Full {
				t.Errorf("by %+v", in.By)
			}
		case "hello":
			direct := r.DMChannel(discordtest.Ann)
			if !s.To || !s.Direct || len(s.Files) != 1 || s.Files[0].Name != "a.txt" || s.Files[0].Size != 3 || s.Files[0].URL == "" ||
				in.Where != api.Address("", direct, direct) || in.Where.Folder() != "discord-"+direct {
				t.Errorf("%+v", in)
			}
			if !in.By.Full || !strings.Contains(strings.Join(in.By.Also, " "), "discord:&"+discordtest.Crew) {
				t.Errorf("by %+v", in.By)
			}
		default:
			t.Errorf("heard %q", s.Text)
		}
	}
}

func TestRunCommandOpensItsThread(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, nil)
		r.Always(bot.Answer{Run: "r", Started: true})
		if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand run", discordtest.Options{
			"goal": "count the files", "budget": "2", "autonomy": "ask-each", "approvers": discordtest.Crew, "deadline": "2h"}); err != nil {
			t.Fatal(err)
		}
		in := r.Hears(1)[0]
		want := bot.Filled{Form: bot.FormRun, Values: map[string]string{bot.FieldGoal: "count the files", bot.FieldBudget: "2",
			bot.FieldAutonomy: "ask-each", bot.FieldApprovers: "discord:&" + discordtest.Crew, bot.FieldDeadline: "2h"}}
		if !cmp.Equal(in.Act, bot.Act(want)) {
			t.Errorf("heard %+v", in.Act)
		}
		r.until("the answer links to the thread", func() bool {
			list := r.Messages(discordtest.General)
			return len(list) == 1 && list[0].Content == "Working on it in <#"+list[0].ID+">." && in.Where == general(list[0].ID)
		})
		threads := r.Threads(discordtest.General)
		if len(threads) != 1 || threads[0].ID != in.Where.ID || threads[0].Name != "count the files" {
			t.Errorf("threads %+v", threads)
		}
		if first := r.Interactions()[0]; first.Response != int(discordgo.InteractionResponseDeferredChannelMessageWithSource) {
			t.Errorf("acknowledged with %d", first.Response)
		}
	})
}

func TestRefusedRunLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, nil)
		r.Always(bot.Answer{Private: "You may not start runs here."})
		if err := r.Slash(discordtest.Gus, discordtest.General, "deckhand run", discordtest.Options{"goal": "count"}); err != nil {
			t.Fatal(err)
		}
		if got := r.whisper(discordtest.Gus); got != "You may not start runs here." {
			t.Errorf("told %q", got)
		}
		r.until("the public line is gone", func() bool { return len(r.Messages(discordtest.General)) == 0 })
		if threads := r.Threads(discordtest.General); len(threads) != 0 {
			t.Errorf("threads %+v", threads)
		}
	})
}

func TestCommandsAreText(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]struct {
		options discordtest.Options
		text    string
	}{
		"deckhand status":  {discordtest.Options{"run": "abc"}, "status abc"},
		"deckhand runs":    {nil, "runs"},
		"deckhand stop":    {discordtest.Options{"run": "x cancel y"}, "stop x_cancel_y"},
		"deckhand approve": {discordtest.Options{"question": "q-1"}, "approve q-1"},
		"deckhand deny":    {discordtest.Options{"question": "q-1", "reason": "too dear"}, "deny q-1 too dear"},
		"deckhand steer":   {discordtest.Options{"text": "use <@" + discordtest.Ben + ">'s list"}, "steer use @Ben's list"},
		"deckhand help":    {nil, "help"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := listen(t, discordtest.Config{}, nil)
			r.Always(bot.Answer{Private: "**so**"})
			if err := r.Slash(discordtest.Ann, discordtest.General, command, want.options); err != nil {
				t.Fatal(err)
			}
			in := r.Hears(1)[0]
			if got, is := in.Act.(bot.Commanded); !is || got.Text != want.text || in.Where != general("") || in.By.Name != "Ann" {
				t.Errorf("heard %+v", in)
			}
			if got := r.whisper(discordtest.Ann); got != "**so**" {
				t.Errorf("told %q", got)
			}
		})
	}
}
