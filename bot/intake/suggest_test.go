package intake

import (
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/recurring"
)

func TestTimeWords(t *testing.T) {
	for _, tt := range []struct{ when, zone, want string }{
		{"every weekday 9:00", "", "every weekday 9:00"},
		{" every\tweekday\n 9:00 ", " Europe/Berlin ", "every weekday 9:00 Europe/Berlin"},
		{"0 9 * * 1-5", "UTC", "0 9 * * 1-5 UTC"},
		{"@every 90m", "", "@every 90m"},
		{"daily 9:00 Asia/Tokyo", "", "daily 9:00 Asia/Tokyo"},
		{"daily 9:00: ", "", "daily 9:00"},
		{"daily 9:00,", "Europe/Berlin", "daily 9:00 Europe/Berlin"},
		// What follows is no time, so it cannot be one of the other options.
		{"daily 9:00: rm -rf", "", ""},
		{"daily 9:00 always", "", ""},
		{"daily 9:00\n#general", "", ""},
		{"daily 9:00 here workspace", "", ""},
		{"daily 9:00 Asia/Tokyo", "Europe/Berlin", ""},
		{"daily 9:00", "Europe/Berlin always", ""},
		{"daily 9:00", "Europe/Berlin:", ""},
		{"daily 9:00", "Europe/Berlin: rm", ""},
		{"daily 9:00", ": rm", ""},
		{"daily 9:00", "and 10:00", ""},
		{"0 9 * * *", "1", ""},
		{"now", "", ""},
		{"list", "", ""},
		{"remove report-abcde", "", ""},
		{"", "", ""},
		{"", "daily 9:00", ""},
	} {
		got, err := bot.TimeWords(tt.when, tt.zone)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q and %q are %q, %v; want %q", tt.when, tt.zone, got, err, tt.want)
		}
	}
}

// What is suggested is what the person may look at, and nothing else.
func TestSuggestions(t *testing.T) {
	schedules := func(c *Config) { c.Recurring = recurring.Schedules{Store: c.Store} }
	s := opened(t, schedules)
	live, _ := s.live()
	over := s.hear(bottest.Requester, bot.Commanded{Text: "run count again"}).Run
	s.Happen(t, over, agent.Main, agent.RunEnded{State: agent.RunDone})
	s.hear(bottest.Requester, to("report daily 9:00"))
	s.hear(bottest.Requester, to("schedule every monday 8:00: count"))
	elsewhere := bot.Address{Platform: "slack", Workspace: "T1", Channel: "C2", ID: ""}
	for _, tt := range []struct {
		name string
		by   bot.Person
		at   bot.Address
		runs []agent.RunID
		n    int
	}{
		{"here", bottest.Stranger, bottest.Channel, []agent.RunID{live}, 2},
		{"elsewhere", bottest.Stranger, elsewhere, nil, 0},
		{"nowhere", bottest.Stranger, bot.Address{}, nil, 0},
		{"the requester", bottest.Requester, elsewhere, []agent.RunID{live}, 2},
		{"an operator", bottest.Operator, elsewhere, []agent.RunID{live}, 2},
		{"an approver", bottest.Approver, elsewhere, []agent.RunID{live}, 0},
		{"another workspace", bottest.Stranger, bot.Address{Platform: "slack", Workspace: "T2", Channel: "C1", ID: ""}, nil, 0},
	} {
		list, err := s.chat.Live(t.Context(), tt.by, tt.at)
		var runs []agent.RunID
		for _, r := range list {
			runs = append(runs, r.Run)
		}
		if err != nil || !slices.Equal(runs, tt.runs) {
			t.Errorf("%s: runs %v, %v", tt.name, runs, err)
		}
		kept, err := s.chat.Schedules(t.Context(), tt.by, tt.at)
		if err != nil || len(kept) != tt.n {
			t.Errorf("%s: schedules %+v, %v", tt.name, kept, err)
		}
	}
	if err := s.SetValue(t.Context(), recurring.NameSchedule+"x", "{"); err != nil {
		t.Fatal(err)
	}
	kept, err := s.chat.Schedules(t.Context(), bottest.Requester, bottest.Channel)
	if len(kept) != 2 || err == nil || !strings.Contains(err.Error(), "x") {
		t.Errorf("schedules %+v, %v", kept, err)
	}
}
