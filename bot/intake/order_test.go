package intake

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/recurring"
)

// What an order says becomes the schedule.
func TestOrders(t *testing.T) {
	for _, tt := range []struct {
		way, order string
		want       recurring.Schedule // of which When, To, Report, Goal, Label, Always and Overlap count
	}{
		{"a command", "report every weekday 9:00 Europe/Berlin", recurring.Schedule{When: "every weekday at 9:00 Europe/Berlin", Report: recurring.OfChannel}},
		{"a command", "report 0 9 * * 1-5 Europe/Berlin always", recurring.Schedule{When: "0 9 * * 1-5 Europe/Berlin", Report: recurring.OfChannel, Always: true}},
		{"a command", "report 30 0 9 * * 1-5", recurring.Schedule{When: "30 0 9 * * 1-5 UTC", Report: recurring.OfChannel}},
		{"a command", "report @every 90m HERE Always", recurring.Schedule{When: "@every 1h30m UTC", Report: recurring.OfChannel, Always: true}},
		{"a command", "REPORT Daily 9:00 quiet", recurring.Schedule{When: "every day at 9:00 UTC", Report: recurring.OfChannel}},
		{"a command", "report daily 9:00 #ops", recurring.Schedule{When: "every day at 9:00 UTC", Report: recurring.OfChannel, To: "slack:T1:C2:", Label: "#ops"}},
		{"a direct message", "report daily 9:00 #ops", recurring.Schedule{When: "every day at 9:00 UTC", Report: recurring.OfChannel, To: "slack:T1:C2:", Label: "#ops"}},
		{"a command", "report daily 9:00 #ops mine", recurring.Schedule{When: "every day at 9:00 UTC", Report: recurring.OfPerson, To: "slack:T1:C2:", Label: "#ops"}},
		{"a command", "report daily 9:00 mine #ops", recurring.Schedule{When: "every day at 9:00 UTC", Report: recurring.OfPerson, To: "slack:T1:C2:", Label: "#ops"}},
		{"a direct message", "report daily 9:00", recurring.Schedule{When: "every day at 9:00 UTC", Report: recurring.OfPerson, To: "slack:T1:DU1:"}},
		{"a message in a thread", "report daily 9:00", recurring.Schedule{When: "every day at 9:00 UTC", Report: recurring.OfChannel}},
		{"a command", "schedule every monday 8:00: count: the lines", recurring.Schedule{When: "every Monday at 8:00 UTC", Goal: "count: the lines", Overlap: recurring.OverlapSkip}},
		{"a command", "schedule 0 8 * * 1: count", recurring.Schedule{When: "0 8 * * 1 UTC", Goal: "count", Overlap: recurring.OverlapSkip}},
		{"a command", "schedule hourly Queue: count", recurring.Schedule{When: "every hour UTC", Goal: "count", Overlap: recurring.OverlapQueue}},
		{"a command", "schedule hourly: queue: count", recurring.Schedule{When: "every hour UTC", Goal: "queue: count", Overlap: recurring.OverlapSkip}},
		{"a message in a thread", "schedule hourly replace:\ncount\nagain", recurring.Schedule{When: "every hour UTC", Goal: "count\nagain", Overlap: recurring.OverlapReplace}},
	} {
		t.Run(tt.way+" "+tt.order, func(t *testing.T) {
			s := scheduler(t)
			got := s.made(bottest.Requester, tt.way, tt.order)
			if tt.want.To == "" {
				tt.want.To = "slack:T1:C1:"
			}
			same := got.When == tt.want.When && got.Report == tt.want.Report && got.Goal == tt.want.Goal && got.To == tt.want.To &&
				got.Label == tt.want.Label && got.Always == tt.want.Always && (got.Overlap == tt.want.Overlap || got.Report != "")
			if !same || got.Missed != "late" || got.Since.IsZero() {
				t.Errorf("it is %+v", got)
			}
		})
	}
}

// What is refused, and what is said about it.
func TestRefusedOrders(t *testing.T) {
	for _, tt := range []struct {
		by          bot.Person
		order, says string
	}{
		{bottest.Requester, "report every 30 seconds", "more often than once a minute"},
		{bottest.Requester, "report */10 * * * * *", "more often than once a minute"},
		{bottest.Requester, "schedule @every 59s: count", "more often than once a minute"},
		{bottest.Requester, "report daily 9:00 Europe/Berln", "for example Europe/Berlin"},
		{bottest.Requester, "report daily 9:00 Berlin", "written as `Europe/Berlin`"},
		{bottest.Requester, "report daily 9:00 always new york", "written as `America/New_York`"},
		{bottest.Requester, "schedule daily 9:00 Berlin: count", "written as `Europe/Berlin`"},
		{bottest.Requester, "report daily 9:00 CEST", "no name of a time zone"},
		{bottest.Requester, "report every weekday", "needs a time of day"},
		{bottest.Requester, "report whenever you like", "no schedule was found"},
		{bottest.Requester, "report daily 9:00 soon", "I do not understand soon"},
		{bottest.Requester, "report daily 9:00 #nowhere", "I do not know the channel"},
		{bottest.Requester, "report daily 9:00 here #ops", "goes to one place"},
		{bottest.Requester, "report daily 9:00 #ops here", "goes to one place"},
		{bottest.Requester, "report 61 * * * *", "above maximum"},
		{bottest.Requester, "schedule daily 9:00", "Put a colon and the goal"},
		{bottest.Requester, "schedule daily 9:00:", "Put a colon and the goal"},
		{bottest.Requester, "schedule daily 9:00 count", "Put a colon and the goal"},
		{bottest.Requester, "schedule daily 9:00 twice: count", "Write `skip`, `queue` or `replace`"},
		{bottest.Requester, "schedule daily 9:00: " + strings.Repeat("ä", maxGoal+1), "at most 40,000"},
		{bottest.Requester, "report", "Say when"},
		{bottest.Requester, "schedule", "Say when and what"},
		{bottest.Guest, "report daily 9:00", "You may not have reports posted there. Full members"},
		{bottest.Guest, "schedule daily 9:00: count", "You may not schedule goals there. Full members"},
		{bottest.Guest, "report daily 9:00 #ops", "You may not have reports posted there"},
		{bottest.Stranger, "report daily 9:00 #closed", "may not have reports posted there. " + bot.Mention(bottest.Approver.ID)},
		{bottest.Requester, "report daily 9:00 workspace", "(" + bot.Mention(bottest.Operator.ID) + " and " + bot.Mention(admin.ID) + ")"},
		{bottest.Requester, "report daily 9:00 #ops workspace", "Only operators and administrators"},
	} {
		s := scheduler(t)
		s.desk.Authority.Places = map[string]authority.Place{"slack:T1:C3": {Start: []string{bottest.Approver.ID}, Operators: []string{bottest.Requester.ID}}}
		in := s.event(tt.by, bot.Commanded{Text: tt.order})
		in.Where, in.Channels = bottest.Channel, map[string]bot.Address{"#ops": {Platform: "slack", Workspace: "T1", Channel: "C2", ID: ""}, "#closed": {Platform: "slack", Workspace: "T1", Channel: "C3", ID: ""}}
		if a := s.hears(in); !strings.Contains(a.Private, tt.says) || len(s.schedules()) != 0 {
			t.Errorf("%.60s: %+v, %d schedules", tt.order, a, len(s.schedules()))
		}
	}
}

// A report about the workspace is for those who look after all of it: an
// operator of one channel does not.
func TestReportsAboutTheWorkspace(t *testing.T) {
	s := scheduler(t)
	s.desk.Authority.Places = map[string]authority.Place{"slack:T1:C1": {Operators: []string{bottest.Requester.ID}}}
	for _, by := range []bot.Person{bottest.Operator, admin} {
		if made := s.made(by, "a command", "report daily 9:00 workspace"); made.Report != recurring.OfWorkspace {
			t.Errorf("made %+v", made)
		}
	}
	for _, order := range []string{"report daily 9:00 workspace", "report now workspace"} {
		if got := s.orders(bottest.Requester, "a command", order); !strings.Contains(got, "runs in private channels") {
			t.Errorf("%s: %s", order, got)
		}
	}
	own := s.made(bottest.Requester, "a command", "report daily 9:00")
	if got := s.orders(bottest.Requester, "a command", "report change "+own.Name+" daily 9:00 workspace"); !strings.Contains(got, "Only operators") {
		t.Errorf("by a change: %s", got)
	}
	for _, made := range s.schedules() {
		if made.By == bottest.Operator.ID { // which an operator of the channel may change, but not to be told so
			if got := s.orders(bottest.Requester, "a command", "report change "+made.Name+" hourly"); !strings.Contains(got, "Only operators") {
				t.Errorf("a change: %s", got)
			}
		}
	}
}

// Times are those of the person, else of the configuration, else UTC. A zone
// that is not known does not make the order fail.
func TestZonesOfOrders(t *testing.T) {
	for _, tt := range []struct{ person, config, want string }{
		{"Asia/Tokyo", "Europe/Berlin", "Asia/Tokyo"},
		{"", "Europe/Berlin", "Europe/Berlin"},
		{"", "", "UTC"},
		{"Mars/Base", "Europe/Berlin", "Europe/Berlin"},
		{"Local", "", "UTC"},
	} {
		s := scheduler(t, func(c *Config) { c.Zone = tt.config })
		by := bottest.Requester
		by.Zone = tt.person
		if made := s.made(by, "a command", "report daily 9:00"); made.Zone != tt.want {
			t.Errorf("%+v: %s", tt, made.Zone)
		}
		if made := s.made(by, "a command", "report daily 9:00 Europe/Lisbon"); made.Zone != "Europe/Lisbon" {
			t.Errorf("%+v: %s", tt, made.Zone)
		}
		if tt.person == "Mars/Base" && !strings.Contains(s.log.String(), "Mars/Base") {
			t.Error("nothing is said of the zone that is not known")
		}
	}
}

// What only begins like an order is a goal.
func TestGoalsThatLookLikeOrders(t *testing.T) {
	s := scheduler(t)
	for _, text := range []string{"report list of all customers", "report now that we have the figures", "schedule list items by price",
		"report every failing test", "schedule the release for monday"} {
		in := s.event(bottest.Requester, to(text))
		in.Where = bottest.Channel.At("50." + text)
		if a := s.hears(in); !a.Started {
			t.Errorf("%q: %+v", text, a)
		}
	}
}

// Nothing that somebody writes into a goal gets a meaning where it is shown.
func TestHostileGoals(t *testing.T) {
	s := scheduler(t)
	made := s.made(bottest.Requester, "a message in a thread", "schedule daily 9:00: `x` **bold** <!channel> "+bot.Mention("slack:U2")+" [a](http://evil) \u202e\nnext")
	for _, text := range []string{answerOf(s.hear(bottest.Stranger, to("schedule list"))), s.orders(bottest.Requester, "a command", "schedule change "+made.Name+" hourly")} {
		for _, bad := range []string{"`x`", "**bold**", " <!channel>", string(agent.MentionOpen) + "slack:U2", "[a](", "\u202e", "\nnext"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q stands in %s", bad, text)
			}
		}
	}
}

// A schedule has no files, and says so.
func TestGoalsWithFiles(t *testing.T) {
	s := scheduler(t)
	said := to("schedule daily 9:00: sum up the table")
	said.Files = []agent.Attachment{{ID: "F1", Name: "a.csv"}}
	if a := s.hear(bottest.Requester, said); !strings.Contains(a.Private, "keeps no files") || len(s.schedules()) != 0 {
		t.Errorf("%+v", a)
	}
}
