package schedule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// crowd is how many schedules come at once, to a channel each.
const crowd = 30

// whens are the times of the schedules, in turn.
var whens = []string{"@every 10s", "*/10 * * * * *", "5/15 * * * * *"}

// busiest is how often most of them come together.
const busiest = 10 * time.Second

func placeOf(i int) string { return fmt.Sprintf("C%d", 100+i) }

// crowded is a configuration with all schedules.
func crowded() string {
	var b strings.Builder
	b.WriteString("authority: {admins: [slack:" + slacktest.Ann + "]}\nschedules:\n")
	for i := range crowd {
		fmt.Fprintf(&b, "  - {name: s%d, report: channel, when: %q, to: \"slack:T1:%s\", quiet: false}\n", i, whens[i%len(whens)], placeOf(i))
	}
	return b.String()
}

// TestSchedulesOnReplicas has three replicas serve thirty schedules while one of
// them is killed now and then: each tick is posted once, and none is missing.
// DECKHAND_SOAK=1 makes it long, and Slack rude.
func TestSchedulesOnReplicas(t *testing.T) {
	t.Parallel()
	deaths, chaos := 2, slacktest.Chaos{}
	if crash.Soak() {
		deaths = 22
		chaos = slacktest.Chaos{Seed: rand.Uint64(), Unavailable: 0.01, LostRequest: 0.01, LostAnswer: 0.01, LateAnswer: 0.01, LateAccept: 0.01}
	}
	f := newCluster(t, crowded(), chaos)
	for i := range crowd {
		f.AddChannel(slacktest.Channel{ID: placeOf(i), Name: strings.ToLower(placeOf(i)), Members: []string{slacktest.Ann, slacktest.BotUser}})
	}
	f.prepare(placeOf(0))
	f.lose(slacktest.Channel{ID: "C9", Name: "closed", Members: []string{slacktest.Ann}})
	for i := range 3 {
		f.start(i)
	}
	for i := range 3 {
		f.awaitReady(i)
	}
	began := time.Now()
	for range deaths {
		pass(t, time.Until(time.Now().Truncate(busiest).Add(busiest)))
		i := rand.IntN(3)
		f.midway(1 + rand.IntN(30))
		f.replicas[i].Kill()
		pass(t, time.Second)
		f.start(i)
		pass(t, 5*time.Second)
	}
	pass(t, 3*time.Second)
	f.calm()
	ended := time.Now()
	f.settle()
	f.check(began, ended)
	f.figures.Add(crash.Tally{Kills: deaths})
	f.figures.Row(t, "schedules, replicas at random", crash.Redis)
}

// prepare writes down a run that ended, as the chart of a report shows it.
func (f *cluster) prepare(channel string) {
	f.t.Helper()
	plan := agent.PlanAccepted{Plan: agent.Plan{Name: "Move"}}
	var ends []agent.Event
	for _, id := range []agent.TaskID{"a", "b", "c", "d"} {
		plan.Plan.Tasks = append(plan.Plan.Tasks, agent.Task{ID: id, Title: "Carry " + string(id)})
		ends = append(ends, agent.Event{Strand: agent.Main, Body: agent.TaskEnded{Task: id, State: agent.TaskDone, Outputs: []agent.Output{}}})
	}
	zero := agent.Nano(0)
	begin := agent.RunStarted{Goal: "Move house", Requester: "slack:" + slacktest.Ann, ReplyTo: "slack:T1:" + channel + ":1.000001", Slots: 1}
	events := slices.Concat([]agent.Event{{Strand: agent.Main, Body: begin}, {Strand: agent.Main, Body: plan}}, ends,
		[]agent.Event{{Strand: agent.Main, Body: agent.RunEnded{State: agent.RunDone, Cost: &zero}}})
	_, err := f.store.Commit(f.t.Context(), agent.Commit{ID: agent.NewID(), Run: agent.RunID(agent.NewID()), Events: events, Ends: true})
	if err != nil {
		f.t.Fatal(err)
	}
}

// lostName is the schedule whose reports have no place to go to.
const lostName = "report-lost"

// lose makes a schedule, as people in chat do, to a channel that the bot is not
// in. It comes once, soon.
func (f *cluster) lose(channel slacktest.Channel) {
	f.t.Helper()
	f.AddChannel(channel)
	now := time.Now().UTC()
	s := recurring.Schedule{Name: lostName, Report: recurring.OfChannel, When: now.Add(time.Second).Format("5 4 15 2 1 *"), Zone: "UTC", Since: now,
		To: "slack:T1:" + channel.ID, By: "slack:" + slacktest.Ben, Always: true, Missed: schedule.Late}
	text, err := json.Marshal(s)
	if err != nil {
		f.t.Fatal(err)
	}
	state := fmt.Sprintf(`{"spec":"%s %s","at":%q}`, s.When, s.Zone, now.Format(time.RFC3339Nano))
	for name, value := range map[string]string{"schedule/": string(text), "schedule-served/": state} {
		if err := f.store.SetValue(f.t.Context(), name+lostName, value); err != nil {
			f.t.Fatal(err)
		}
	}
}

// midway waits until so many messages of a tick are there: others are on their way.
func (f *cluster) midway(n int) {
	f.t.Helper()
	n += len(f.FromBot())
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	if err := f.Wait(ctx, func() bool { return len(f.FromBot()) >= n }); err != nil {
		f.t.Fatalf("a tick does not become %d messages: %v", n, err)
	}
}

// calm pauses every schedule of the crowd.
func (f *cluster) calm() {
	f.t.Helper()
	for i := range crowd {
		if err := f.store.SetValue(f.t.Context(), fmt.Sprintf("schedule-paused/s%d", i), "slack:"+slacktest.Ann); err != nil {
			f.t.Fatal(err)
		}
	}
}

// settle waits until every report was posted, or somebody was told.
func (f *cluster) settle() {
	f.t.Helper()
	var open []string
	if !poll(func() bool {
		open = nil
		for name, runs := range f.ticks() {
			for _, r := range runs {
				if _, told := r.Shown["raise/0"]; r.Shown["report"].Message == "" && !told {
					open = append(open, name+" "+r.Brief.Tick.At.Format(time.TimeOnly)+" run "+string(r.ID))
				}
			}
		}
		return len(open) == 0
	}) {
		f.t.Errorf("%d reports were never posted: %s", len(open), strings.Join(open[:min(3, len(open))], ", "))
	}
}
