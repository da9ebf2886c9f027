package intake

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// admin is somebody who is named as an administrator only.
var admin = bot.Person{ID: "slack:U4", Full: true}

// scheduler is a room with places to schedule at.
func scheduler(t *testing.T, change ...func(c *Config)) *room {
	t.Helper()
	s := opened(t, append([]func(c *Config){func(c *Config) {
		c.Platforms = []bot.Platform{&bottest.Stage{ID: "slack", DM: bot.Address{Platform: "slack", Workspace: "T1", Channel: "D", ID: ""}, Found: map[string]bot.Posted{}}}
		c.Recurring.Fixed = []recurring.Schedule{dailyReport(func(s *recurring.Schedule) { s.By = "" })}
	}}, change...)...)
	s.desk.Authority.Admins = []string{admin.ID}
	return s
}

// dailyReport is a report of the channel at nine.
func dailyReport(change ...func(s *recurring.Schedule)) recurring.Schedule {
	s := recurring.Schedule{Name: "daily", Report: recurring.OfChannel, When: "0 9 * * *", Zone: "UTC", To: "slack:T1:C1", Always: true, By: bottest.Requester.ID, Missed: schedule.Late}
	for _, f := range change {
		f(&s)
	}
	return s
}

// The ways to say something to the bot.
var ways = map[string]func(s *room, text string) (bot.Address, bot.Act){
	"a message in a channel": func(s *room, text string) (bot.Address, bot.Act) {
		return bottest.Channel.At(fmt.Sprint("40.", s.count)), to(text)
	},
	"a message in a thread": func(_ *room, text string) (bot.Address, bot.Act) { return bottest.Thread, to(text) },
	"a direct message": func(s *room, text string) (bot.Address, bot.Act) {
		return bot.Address{Platform: "slack", Workspace: "T1", Channel: "DU1", ID: fmt.Sprint("40.", s.count)}, bot.Said{Text: text, Direct: true}
	},
	"a command": func(_ *room, text string) (bot.Address, bot.Act) { return bottest.Channel, bot.Commanded{Text: text} },
	"a command in a direct conversation": func(_ *room, text string) (bot.Address, bot.Act) {
		return bot.Address{Platform: "slack", Workspace: "T1", Channel: "DU1", ID: ""}, bot.Commanded{Text: text, Direct: true}
	},
}

// orders gives an order in one of the ways, twice: the second time it is the
// same event, and nothing may come of it.
func (s *room) orders(by bot.Person, way, text string) string {
	s.Helper()
	in := s.event(by, nil)
	in.Where, in.Act = ways[way](s, text)
	in.Channels = map[string]bot.Address{"#ops": {Platform: "slack", Workspace: "T1", Channel: "C2", ID: ""}}
	if _, said := in.Act.(bot.Said); said {
		in.Message = in.Where.At(fmt.Sprintf("41.%d", s.count))
	}
	a := s.hears(in)
	kept, runs := len(s.schedules()), len(s.Order)
	if again := s.hears(in); again != (bot.Answer{}) || len(s.schedules()) != kept || len(s.Order) != runs {
		s.Errorf("%s, a second time: %+v, %d schedules, %d runs", text, again, len(s.schedules()), len(s.Order))
	}
	if a.Mark != "" {
		return string(a.Mark)
	}
	return answerOf(a)
}

// schedules are those that people made.
func (s *room) schedules() []recurring.Schedule {
	s.Helper()
	list, err := recurring.Schedules{Store: s.Memory}.List(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return list
}

var aName = regexp.MustCompile("`([^`]+)`")

// made orders a schedule and returns it.
func (s *room) made(by bot.Person, way, text string) recurring.Schedule {
	s.Helper()
	before := map[string]bool{}
	for _, old := range s.schedules() {
		before[old.Name] = true
	}
	answer := s.orders(by, way, text)
	name := aName.FindStringSubmatch(answer)
	for _, made := range s.schedules() {
		if !before[made.Name] && name != nil && made.Name == name[1] { // the confirmation's first name
			return made
		}
	}
	s.Fatalf("%q is no schedule: %s", text, answer)
	return recurring.Schedule{}
}

func TestLifeOfASchedule(t *testing.T) {
	for way := range ways {
		t.Run(way, func(t *testing.T) {
			s := scheduler(t)
			direct := strings.Contains(way, "direct")
			place, about := "slack:T1:C1:", recurring.OfChannel
			if direct {
				place, about = "slack:T1:DU1:", recurring.OfPerson
			}
			report := s.made(bottest.Requester, way, "report every weekday 9:00 Europe/Berlin here always")
			if report.To != place || report.Report != about || report.Zone != "Europe/Berlin" || !report.Always || report.By != bottest.Requester.ID || report.Direct != direct {
				t.Errorf("the report %+v", report)
			}
			goal := s.made(bottest.Requester, way, "schedule every monday 8:00: water the *plants*")
			if goal.To != place || goal.Goal != "water the *plants*" || goal.Report != "" || goal.Zone != "UTC" || goal.Overlap != recurring.OverlapSkip || goal.Direct != direct {
				t.Errorf("the goal %+v", goal)
			}
			for _, kind := range []string{"report", "schedule"} {
				name, other, misses := report.Name, goal.Name, "the command for it begins with `schedule`"
				if kind == "schedule" {
					name, other, misses = goal.Name, report.Name, "There is no such schedule here" // any more
				}
				for _, step := range []struct{ order, says string }{
					{"list", name},
					{"pause " + name, "Paused `" + name + "`"},
					{"pause " + name, "paused already"},
					{"list", "**Paused** by"},
					{"change " + name + " daily 10:00 UTC", "It is still **paused**"},
					{"list", "Every day at 10:00 (UTC)"},
					{"resume " + name, "`" + name + "` goes on. Next: "},
					{"resume " + name, "is not paused"},
					{"pause " + other, misses},
					{"pause report-zzzzz", "There is no such schedule here"},
					{"pause", "Say which one"},
					{"change", "Say which one and when"},
					{"change " + name, "Say which one and when"},
					{"remove " + name, "Removed `" + name + "`"},
					{"remove " + name, "There is no such schedule here"},
				} {
					if got := s.orders(bottest.Requester, way, kind+" "+step.order); !strings.Contains(got, step.says) {
						t.Errorf("%s %s: %s", kind, step.order, got)
					}
				}
			}
			if left := s.schedules(); len(left) != 0 {
				t.Errorf("left %+v", left)
			}
			for name := range s.Names {
				if strings.HasPrefix(name, "schedule") {
					t.Errorf("left %s", name)
				}
			}
		})
	}
}

// A change keeps what is not said, and what was told and begun before.
func TestAChangeKeepsTheRest(t *testing.T) {
	s := scheduler(t)
	made := s.made(bottest.Requester, "a command", "report daily 9:00 Asia/Tokyo always")
	begun := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	old := recurring.Cursor{Spec: made.Spec(), At: begun, Posted: begun, Mark: "mark", Run: "abcdefghijklmnop"}
	s.Names[recurring.NameServed+made.Name] = old.Text()
	by := bottest.Operator
	by.Zone = "America/New_York"
	s.orders(by, "a command", "report change "+made.Name+" daily 10:00 #ops")
	now := s.schedules()[0]
	if now.Zone != "Asia/Tokyo" || !now.Always || now.By != bottest.Requester.ID || now.To != "slack:T1:C2:" || now.Label != "#ops" || now.Report != recurring.OfChannel {
		t.Errorf("changed to %+v", now)
	}
	state, known, err := recurring.Schedules{Store: s.Memory}.Served(t.Context(), now)
	if err != nil || !known || !state.Posted.Equal(old.Posted) || state.Mark != old.Mark || state.Run != old.Run || time.Since(state.At) > time.Minute {
		t.Errorf("it is known %v as %+v, %v", known, state, err)
	}
	s.orders(bottest.Requester, "a command", "report change "+made.Name+" daily 10:00 here quiet mine")
	if now = s.schedules()[0]; now.To != "slack:T1:C1:" || now.Label != "" || now.Always || now.Report != recurring.OfPerson {
		t.Errorf("changed back to %+v", now)
	}
	goal := s.made(bottest.Requester, "a command", "schedule daily 9:00 queue: count")
	s.orders(bottest.Requester, "a command", "schedule change "+goal.Name+" hourly")
	if now := s.schedules()[0]; now.Goal != "count" || now.Overlap != recurring.OverlapQueue || !strings.HasPrefix(now.When, "every hour") {
		t.Errorf("changed to %+v", now)
	}
}

func TestWhoManagesASchedule(t *testing.T) {
	s := scheduler(t)
	s.desk.Authority.AllowBots = []string{bottest.Robot.ID}
	made := s.made(bottest.Requester, "a command", "report daily 9:00")
	hidden := s.made(bottest.Requester, "a direct message", "schedule daily 9:00: look for another job")
	for _, by := range []bot.Person{bottest.Stranger, bottest.Guest, bottest.Approver} {
		for _, word := range []string{"pause", "resume", "remove", "change"} {
			order := "report " + word + " " + made.Name
			if word == "change" {
				order += " daily 10:00"
			}
			if got := s.orders(by, "a command", order); !strings.Contains(got, "Only its owner") || !strings.Contains(got, bottest.Requester.ID) {
				t.Errorf("%s: %s: %s", by.ID, order, got)
			}
			order = strings.NewReplacer("report", "schedule", made.Name, hidden.Name).Replace(order)
			if got := s.orders(by, "a command", order); !strings.Contains(got, "no such schedule") {
				t.Errorf("%s: %s: %s", by.ID, order, got)
			}
		}
	}
	for _, order := range []string{"report daily 10:00", "report remove " + made.Name, "schedule daily 9:00: x"} {
		if got := s.orders(bottest.Robot, "a message in a thread", order); got != "Only people keep schedules." {
			t.Errorf("a bot: %s: %s", order, got)
		}
	}
	if len(s.schedules()) != 2 || strings.Contains(s.log.String(), "another job") {
		t.Errorf("schedules %+v, log %s", s.schedules(), s.log)
	}
	for _, by := range []bot.Person{bottest.Operator, admin} {
		if got := s.orders(by, "a command", "schedule pause "+hidden.Name); !strings.Contains(got, "Paused") {
			t.Errorf("%s: %s", by.ID, got)
		}
		s.orders(by, "a command", "schedule resume "+hidden.Name)
	}
}

// The schedules of the configuration are paused in chat, and nothing more.
func TestFixedSchedules(t *testing.T) {
	s := scheduler(t)
	for _, tt := range []struct {
		by          bot.Person
		order, says string
	}{
		{bottest.Requester, "list", "from the configuration file"},
		{bottest.Requester, "pause daily", "Only operators"},
		{bottest.Operator, "remove daily", "remove it there"},
		{bottest.Operator, "change daily hourly", "change it there"},
		{bottest.Operator, "pause daily", "Paused `daily`"},
		{bottest.Requester, "list", "**Paused** by"},
		{bottest.Operator, "resume daily", "goes on"},
	} {
		if got := s.orders(tt.by, "a command", "report "+tt.order); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %s: %s", tt.by.ID, tt.order, got)
		}
	}
	if taken := recurring.NewName(recurring.Schedule{Report: recurring.OfChannel}, nil); !namePattern.MatchString(taken) || taken == recurring.NewName(recurring.Schedule{Report: recurring.OfChannel}, nil) {
		t.Errorf("the name %s", taken)
	}
}

// An administrator of any platform pauses what the file schedules, and it stays
// paused over restarts until it is resumed.
func TestAdministratorsPauseFixedSchedules(t *testing.T) {
	far := bot.Person{ID: "discord:77", Full: true}
	goal := dailyReport(func(s *recurring.Schedule) {
		s.Name, s.By, s.Report, s.Goal, s.To = "nightly", "", "", "water the plants", "discord:6:5"
	})
	for _, by := range []bot.Person{admin, far} {
		s := scheduler(t, func(c *Config) { c.Recurring.Fixed = append(c.Recurring.Fixed, goal) })
		s.desk.Authority.Admins = []string{admin.ID, far.ID}
		for order, name := range map[string]string{"report": "daily", "schedule": "nightly"} {
			if got := s.orders(by, "a command", order+" pause "+name); !strings.Contains(got, "Paused `"+name+"`") {
				t.Errorf("%s: %s", by.ID, got)
			}
		}
		paused := func() (names []string) {
			again := recurring.Schedules{Fixed: s.chat.cfg.Recurring.Fixed, Store: s.Memory} // as after a restart
			list, err := again.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range list {
				if one.Paused == by.ID {
					names = append(names, one.Name)
				}
			}
			return names
		}
		if got := paused(); !slices.Equal(got, []string{"daily", "nightly"}) {
			t.Errorf("after a restart paused are %q", got)
		}
		s.orders(by, "a command", "report resume daily")
		if got := paused(); !slices.Equal(got, []string{"nightly"}) {
			t.Errorf("after one was resumed paused are %q", got)
		}
	}
}

// What is listed aloud is what everybody there may know.
func TestListsTellNobodyOfOtherPlaces(t *testing.T) {
	s := scheduler(t)
	s.made(bottest.Requester, "a message in a thread", "schedule daily 9:00: water the plants")
	s.made(bottest.Requester, "a direct message", "schedule daily 9:00: look for another job")
	for _, tt := range []struct {
		by     bot.Person
		aloud  bool
		secret bool
	}{{bottest.Stranger, true, false}, {bottest.Guest, true, false}, {bottest.Requester, false, true}, {bottest.Operator, false, true}, {admin, false, true}} {
		a := s.hear(tt.by, to("schedule list"))
		text := answerOf(a)
		if (a.Public != nil) != tt.aloud || a.Confidential == tt.aloud || strings.Contains(text, "another job") != tt.secret || !strings.Contains(text, "water the plants") {
			t.Errorf("%s: aloud %t: %s", tt.by.ID, a.Public != nil, text)
		}
	}
}

func TestReportNow(t *testing.T) {
	for _, tt := range []struct{ way, options, to, says string }{
		{"a message in a channel", "", "slack:T1:C1:", "memo"},
		{"a message in a thread", "", "slack:T1:C1:", "memo"},
		{"a direct message", "", "slack:T1:DU1:", "memo"},
		{"a command", "", "slack:T1:C1:", "on its way"},
		{"a command in a direct conversation", "", "slack:T1:DU1:", "on its way"},
		{"a command", "here", "slack:T1:C1:", "on its way"},
		{"a command", "#ops", "slack:T1:C2:", "on its way"},
		{"a direct message", "#ops always", "slack:T1:C2:", "memo"},
		{"a command", "mine", "slack:T1:C1:", "on its way"},
		{"a command", "#nowhere", "", "I do not know the channel"},
		{"a command", "tomorrow", "", "I do not understand tomorrow"},
		{"a command", "here #ops", "", "goes to one place"},
		{"a command", "workspace", "", "Only operators and administrators"},
		{"a direct message", "channel", "", "This is no channel"},
	} {
		t.Run(tt.way+" "+tt.options, func(t *testing.T) {
			s := scheduler(t)
			s.live()
			got := s.orders(bottest.Requester, tt.way, strings.TrimSpace("report now "+tt.options))
			if !strings.Contains(got, tt.says) {
				t.Errorf("answer %q", got)
			}
			if tt.to == "" {
				if len(s.Order) != 1 {
					t.Error("it is posted all the same")
				}
				return
			}
			r := s.fold(s.Order[len(s.Order)-1])
			if !r.Scheduled() || r.Ended == nil || r.Brief.ReplyTo != tt.to || r.Brief.Tick.Schedule != "" || r.Report == nil {
				t.Fatalf("the run %+v", r.Brief)
			}
			if raise := fmt.Sprint(r.Brief.Tick.Raise); raise != "["+bottest.Requester.ID+"]" {
				t.Errorf("told of trouble: %s", raise)
			}
			if here := tt.to == "slack:T1:C1:" || strings.Contains(tt.way, "direct") && tt.options == ""; strings.Contains(r.Report.Body, "count the lines") != here {
				t.Errorf("it tells:\n%s", r.Report.Body)
			}
		})
	}
}

// A report that is asked for may not be told by those who may start nothing.
func TestReportNowByAGuest(t *testing.T) {
	s := scheduler(t)
	if got := s.orders(bottest.Guest, "a command", "report now"); !strings.Contains(got, "You may not have reports posted there") || len(s.Order) != 0 {
		t.Errorf("%s, %d runs", got, len(s.Order))
	}
}

// A store that is down, or holds something odd, is neither an empty list nor
// an order that comes back for ever.
func TestSchedulesThatCannotBeRead(t *testing.T) {
	s := scheduler(t, func(c *Config) { c.Recurring.Fixed = nil })
	s.Names[recurring.NameSchedule+"odd"] = "{"
	for _, tt := range []struct{ order, says string }{
		{"list", "Some schedules cannot be read"}, {"pause odd", "no such schedule"}, {"daily 9:00", "Kept as"}, {"list", "Every day at 9:00"},
	} {
		if got := answerOf(s.hear(bottest.Requester, bot.Commanded{Text: "report " + tt.order})); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %s", tt.order, got)
		}
	}
	s.Names[recurring.NameSchedule+"worse"] = recurring.Schedule{Name: "worse", Report: recurring.OfChannel, When: "at teatime", Zone: "UTC", To: "slack:T1:C1", By: bottest.Requester.ID}.Text()
	for _, tt := range []struct{ order, says string }{
		{"list", "it cannot be served"}, {"pause worse", "Paused"}, {"resume worse", "cannot be served"}, {"remove worse", "Removed"},
	} {
		if got := answerOf(s.hear(bottest.Requester, bot.Commanded{Text: "report " + tt.order})); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %s", tt.order, got)
		}
	}
	s.Down = errors.New("no route to host")
	for _, order := range []string{"list", "pause daily", "daily 9:00", "now"} {
		if a, err := s.chat.Receive(t.Context(), s.event(bottest.Requester, bot.Commanded{Text: "report " + order})); err == nil {
			t.Errorf("%s without a store: %+v", order, a)
		}
	}
}

func TestAPersonKeepsNotTooMany(t *testing.T) {
	s := scheduler(t)
	for i := range recurring.MaxOwned {
		made := dailyReport(func(s *recurring.Schedule) { s.Name = fmt.Sprint("report-", i) })
		s.Names[recurring.NameSchedule+made.Name] = made.Text()
	}
	if got := s.orders(bottest.Requester, "a command", "report daily 9:00"); !strings.Contains(got, "100 schedules already") {
		t.Error(got)
	}
	s.made(bottest.Stranger, "a command", "report daily 9:00")
}

// Reports and alerts are posts and no work: no list has them, unless they
// could not be posted.
func TestReportsAreInNoList(t *testing.T) {
	s := scheduler(t)
	work := s.begun(bottest.Requester, 1)
	var posts []agent.RunID
	for range maxLooked + 20 {
		s.hear(bottest.Requester, bot.Commanded{Text: "report now"})
		posts = append(posts, s.Order[len(s.Order)-1])
	}
	s.chat.Alert(t.Context(), bot.Alert{ID: "a", Kind: "schedule", Text: "x"})
	lists := func() map[string]string {
		all := map[string]string{"runs": answerOf(s.hear(bottest.Requester, bot.Commanded{Text: "runs"}))}
		in := s.event(bottest.Requester, bot.Visited{})
		in.Where = bot.Address{}
		all["home"] = bot.Markdown(*s.hears(in).Home)
		list, _, err := ListRuns(t.Context(), s.desk, 0)
		if err != nil {
			t.Fatal(err)
		}
		all["status"] = fmt.Sprint(list)
		if list, err = s.chat.Live(t.Context(), bottest.Requester, bottest.Channel); err != nil {
			t.Fatal(err)
		}
		all["suggested"] = fmt.Sprint(list) + string(posts[0])
		s.hear(bottest.Requester, bot.Commanded{Text: "report now"})
		all["digest"] = s.fold(s.Order[len(s.Order)-1]).Report.Body
		return all
	}
	for name, text := range lists() {
		is := string(work)
		if name == "digest" { // which links its thread
			is = "place:slack:T1:C1:"
		}
		if !strings.Contains(text, is) || strings.Contains(text, "Report now") || strings.Contains(text, "Alert") || (name != "suggested" && strings.Contains(text, string(posts[0]))) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	lost := posts[len(posts)-1]
	p := agent.Post{Key: agent.KeyCard, Kind: agent.PostScheduled}
	s.Happen(t, lost, agent.Voice, p.Intent(time.Time{}))
	s.Happen(t, lost, agent.Voice, agent.ToolOutcome{Effect: p.Effect(), State: agent.OutcomeError, Text: "error: not_in_channel"})
	for name, text := range lists() {
		if !strings.Contains(text, string(lost)) != (name == "suggested" || name == "digest") { // digests have tests of their own
			t.Errorf("%s does not tell of the one that was not posted:\n%s", name, text)
		}
	}
}
