package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// check holds what was posted against the ticks that came.
func (f *cluster) check(began, ended time.Time) {
	f.t.Helper()
	all := f.ticks()
	posts := map[string][]post{}
	for _, c := range f.cards() {
		if c.Kind == "" { // the message of an upload
			continue
		}
		name := string(c.Run) + " " + c.Key
		posts[name] = append(posts[name], c)
	}
	var late []time.Duration
	for i := range crowd {
		runs := all[fmt.Sprintf("s%d", i)]
		f.checkTicks(i, runs, began, ended)
		for _, r := range runs {
			late = append(late, f.checkPosts(i, r, posts)...)
		}
	}
	f.checkLost(all[lostName], posts)
	f.checkAway(posts)
	f.checkCharts(all["s0"])
	if len(posts) != 2*len(late)+3 {
		f.t.Errorf("%d ticks have %d posts, want two each, and to an administrator one about the report and two about its place", len(late), len(posts))
	}
	if n := f.Count("chat.delete"); n > 0 {
		f.t.Errorf("%d posts were taken back", n)
	}
	if n := f.Limited()["chat.postMessage"]; n > 0 {
		f.t.Errorf("%d posts came too fast for Slack", n)
	}
	if len(late) == 0 {
		f.t.Fatal("no tick came")
	}
	f.figures.Add(crash.Tally{Runs: len(late), Effects: len(posts)})
	slices.Sort(late)
	f.t.Logf("%d replicas were started for 3 places; %d reports in %s; from tick to headline: p50 %s, p99 %s, slowest %s; ticks that the next report told as missed: %d; answered 429: %v", f.count, len(late),
		ended.Sub(began).Round(time.Second), late[len(late)/2].Round(time.Millisecond), late[len(late)*99/100].Round(time.Millisecond),
		late[len(late)-1].Round(time.Millisecond), f.missed, f.Limited())
}

// checkTicks looks for ticks of a schedule that came twice, or not at all without
// the next report saying so: what no replica served until the tick after it is
// told there.
func (f *cluster) checkTicks(i int, runs []agent.Run, began, ended time.Time) {
	f.t.Helper()
	when, err := schedule.Parse(whens[i%len(whens)], time.UTC, time.Unix(0, 0))
	if err != nil {
		f.t.Fatal(err)
	}
	slices.SortFunc(runs, func(a, b agent.Run) int { return a.Brief.Tick.At.Compare(b.Brief.Tick.At) })
	next := when.Next(began)
	for k, r := range runs {
		at := r.Brief.Tick.At
		if k == 0 && at.Before(next) {
			next = at
		}
		missed := 0
		for ; next.Before(at); next = when.Next(next) {
			missed++
		}
		if !at.Equal(next) {
			f.t.Errorf("s%d (%s): the tick of %s came twice, or is none", i, when, at.Format(time.TimeOnly))
		}
		if f.missed += missed; missed > 0 && !strings.Contains(r.Report.Body, "missed: ") {
			f.t.Errorf("s%d (%s): %d ticks before that of %s are missing, and its report does not say so: %s", i, when, missed, at.Format(time.TimeOnly), r.Report.Body)
		}
		next = when.Next(at)
	}
	if next.Before(ended.Add(-busiest)) {
		f.t.Errorf("s%d (%s): nothing came from %s to %s", i, when, next.Format(time.TimeOnly), ended.Format(time.TimeOnly))
	}
}

// checkPosts looks for the posts of one tick: how late the headline was.
func (f *cluster) checkPosts(i int, r agent.Run, posts map[string][]post) []time.Duration {
	f.t.Helper()
	head, body := posts[string(r.ID)+" card"], posts[string(r.ID)+" report"]
	if len(head) != 1 || len(body) != 1 {
		f.t.Errorf("s%d at %s: %d headlines and %d bodies", i, r.Brief.Tick.At.Format(time.TimeOnly), len(head), len(body))
		return nil
	}
	if h, b := head[0], body[0]; h.Channel != placeOf(i) || h.ThreadTS != "" && h.ThreadTS != h.TS || b.Channel != h.Channel || b.ThreadTS != h.TS ||
		h.Kind != agent.PostScheduled || b.Kind != agent.PostScheduled {
		f.t.Errorf("s%d: the headline is %s at %s/%s/%s, the body %s at %s/%s/%s", i, h.Kind, h.Channel, h.ThreadTS, h.TS, b.Kind, b.Channel, b.ThreadTS, b.TS)
	}
	return []time.Duration{head[0].Posted.Sub(r.Brief.Tick.At)}
}

// checkLost looks for the one word to the administrators.
func (f *cluster) checkLost(runs []agent.Run, posts map[string][]post) {
	f.t.Helper()
	if len(runs) != 1 {
		f.t.Errorf("%d ticks of the schedule that cannot be delivered", len(runs))
		return
	}
	told := posts[string(runs[0].ID)+" raise/0"]
	if len(told) != 1 || told[0].Channel != f.IM(slacktest.Ann) || !strings.Contains(told[0].Text+string(told[0].Blocks), lostName) {
		f.t.Errorf("of the report that cannot be delivered, the administrators hear %d times: %+v", len(told), told)
	}
	tries := 0
	for _, q := range f.Requests() {
		if q.Method == "chat.postMessage" && q.Args["channel"] == "C9" {
			tries++
		}
	}
	if tries < 3 {
		f.t.Errorf("it was given up after %d tries", tries)
	}
	f.t.Logf("the report that cannot be delivered: %d tries, the administrator knew after %s", tries, told[0].Posted.Sub(runs[0].Brief.Tick.At).Round(100*time.Millisecond))
}

// checkAway looks for the one alert about the place that takes nothing: a headline
// and, below it, what is to be done.
func (f *cluster) checkAway(posts map[string][]post) {
	f.t.Helper()
	var heads, bodies []post
	for name, list := range posts {
		for _, c := range list {
			switch {
			case c.Channel != f.IM(slacktest.Ann) || strings.HasSuffix(name, " raise/0"):
			case c.Key == "card":
				heads = append(heads, c)
			default:
				bodies = append(bodies, c)
			}
		}
	}
	if len(heads) != 1 || len(bodies) != 1 || bodies[0].Run != heads[0].Run || bodies[0].ThreadTS != heads[0].TS ||
		!strings.Contains(bodies[0].Text+string(bodies[0].Blocks), "I may not write in") {
		f.t.Errorf("of the place that takes nothing, the administrator hears by %+v and %+v", heads, bodies)
	}
}

// checkCharts looks for the one chart: of the first report, which has a run to show.
func (f *cluster) checkCharts(runs []agent.Run) {
	f.t.Helper()
	var names []string
	for _, file := range f.Files() {
		names = append(names, file.Name)
	}
	if len(runs) == 0 || len(names) != 1 || names[0] != "s0-"+runs[0].Brief.Tick.At.UTC().Format("2006-01-02T150405")+".png" {
		f.t.Errorf("the charts are %q", names)
	}
}
