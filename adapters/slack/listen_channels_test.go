package slack

import (
	"maps"
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
)

// Channels that a text names keep their ids, in messages and in commands, over
// every way in; no two of them share a word.
func TestChannelsInTexts(t *testing.T) {
	t.Parallel()
	at := func(id string) bot.Address {
		return bot.Address{Platform: "slack", Workspace: slacktest.Team, Channel: id}
	}
	each(t, func(t *testing.T, world slacktest.Config) {
		r := listen(t, world, nil)
		for i, tt := range []struct {
			raw, text string
			channels  map[string]bot.Address
		}{
			{"report daily 9:00 <#C7|general> always", "report daily 9:00 #general always", map[string]bot.Address{"#general": at("C7")}},
			{"report daily 9:00 <#C7>", "report daily 9:00 #C7", map[string]bot.Address{"#C7": at("C7")}},
			{"report daily 9:00 <#C7|>", "report daily 9:00 #C7", map[string]bot.Address{"#C7": at("C7")}},
			{"<#C7|twin>, <#C8|twin> and <#C7|twin>", "#twin, #twin-C8 and #twin", map[string]bot.Address{"#twin": at("C7"), "#twin-C8": at("C8")}},
			{"report daily 9:00 #general", "report daily 9:00 #general", nil}, // typed, not chosen
			{"ask <@U2|ben>", "ask @ben", nil},
		} {
			r.Mention(slacktest.Ann, slacktest.General, "", tt.raw)
			in := r.Hears(2*i + 1)[2*i]
			if got := said(t, in).Text; got != tt.text || !maps.Equal(in.Channels, tt.channels) {
				t.Errorf("%q is said as %q, %v", tt.raw, got, in.Channels)
			}
			if err := r.Slash(slacktest.Ann, slacktest.General, tt.raw); err != nil {
				t.Fatal(err)
			}
			in = r.Hears(2*i + 2)[2*i+1]
			if in.Act != (bot.Commanded{Text: tt.text}) || !maps.Equal(in.Channels, tt.channels) {
				t.Errorf("%q is commanded as %+v, %v", tt.raw, in.Act, in.Channels)
			}
		}
	})
}

func TestDirectCommandsAndForms(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world slacktest.Config) {
		r := listen(t, world, nil)
		im := r.IM(slacktest.Ann)
		r.Answers(func(in bot.Inbound) (bot.Answer, error) {
			if _, is := in.Act.(bot.Commanded); is {
				return bot.Answer{Form: &bot.Form{ID: "run", Title: "New goal", Fields: []bot.Field{{ID: "goal", Label: "Goal", Kind: bot.FieldText}}}}, nil
			}
			return bot.Answer{}, nil
		})
		for i, channel := range []string{im, slacktest.General} {
			if err := r.Slash(slacktest.Ann, channel, "run"); err != nil {
				t.Fatal(err)
			}
			in := r.Hears(2*i + 1)[2*i]
			if want := (bot.Commanded{Text: "run", Direct: channel == im}); in.Act != want || in.Where.Channel != channel {
				t.Errorf("%+v", in)
			}
			var modal slacktest.View
			r.until("a form is open", func() (open bool) { modal, open = r.Modal(slacktest.Ann); return open })
			if _, err := r.Submit(modal.ID, slacktest.Ann, map[string]string{"goal": "tidy up"}); err != nil {
				t.Fatal(err)
			}
			in = r.Hears(2*i + 2)[2*i+1]
			if act, is := in.Act.(bot.Filled); !is || act.Direct != (channel == im) || in.Where.Channel != channel {
				t.Errorf("%+v", in)
			}
		}
	})
}

func TestTimeZones(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	for i, tt := range []struct{ tz, want string }{{"Asia/Kolkata", "Asia/Kolkata"}, {"Nowhere/Land", ""}, {"Local", ""}} {
		id := "UZ" + tt.tz[:3]
		r.AddUser(slacktest.User{ID: id, Name: "zoe", TZ: tt.tz})
		for again := range 2 { // asked once, then known
			r.Mention(id, slacktest.General, "", "hello")
			n := 2*i + again
			if in := r.Hears(n + 1)[n]; in.By.Zone != tt.want {
				t.Errorf("in %s the zone is %q, want %q", tt.tz, in.By.Zone, tt.want)
			}
		}
	}
}
