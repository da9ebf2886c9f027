package digest

import (
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// The chart of a report: open tasks over time, or money by day.

// Bounds of a report's chart.
const (
	chartDays   = 14 // of spend
	chartPoints = 12
	chartTasks  = 4 // of a plan that is worth a burn-down
)

// Chart is a chart of one series to be attached to a report; the fields
// are those of the tool plot.
type Chart struct {
	Kind, Title    string // Kind is line or bar
	XLabel, YLabel string
	Labels         []string
	Values         []float64
	Text           string // what it shows, for those who don't see it
}

// chart is a burn-down where a task of a larger plan ended in the period, else
// the spend of each day where runs ended on more than one, else nothing.
func (d grouped) chart() *Chart {
	if c := d.burndown(); c != nil {
		return c
	}
	if len(d.ended) == 0 {
		return nil
	}
	return d.daily()
}

// burndown is how many tasks were open over the period.
func (d grouped) burndown() *Chart {
	var runs []agent.Run
	worth := false
	for _, list := range [][]agent.Run{d.ended, d.live} {
		for _, r := range list {
			if len(r.Plan.Tasks) == 0 {
				continue
			}
			runs = append(runs, r)
			for _, t := range r.Plan.Tasks {
				worth = worth || (len(r.Plan.Tasks) >= chartTasks && d.Period.holds(r.Tasks[t.ID].Ended))
			}
		}
	}
	if !worth {
		return nil
	}
	begin := d.Period.Since
	if begin.IsZero() {
		begin = d.Period.Until
		for _, r := range runs {
			if r.Started.Before(begin) {
				begin = r.Started
			}
		}
	}
	c := &Chart{Kind: "line", Title: "Open tasks", XLabel: "Time (" + d.Period.zone().String() + ")", YLabel: "Tasks"}
	layout := "15:04"
	if d.Period.Until.Sub(begin) > 36*time.Hour {
		layout = "2 Jan 15:04"
	}
	for _, at := range samples(begin, d.Period.Until) {
		c.Labels = append(c.Labels, at.In(d.Period.zone()).Format(layout))
		c.Values = append(c.Values, float64(openTasks(runs, at)))
	}
	c.Text = fmt.Sprintf("%s open at %s, %d at %s", format.Count(int(c.Values[0]), "task"), d.Period.drawn(begin), int(c.Values[len(c.Values)-1]), d.Period.drawn(d.Period.Until))
	return c
}

// steps are the times between two points of a chart that read well.
var steps = []time.Duration{
	time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour,
	6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour, 28 * 24 * time.Hour,
}

// samples are at most chartPoints times, evenly apart, and the end.
func samples(begin, end time.Time) []time.Time {
	span := end.Sub(begin)
	step := span / chartPoints
	for _, s := range steps {
		if s >= step {
			step = s
			break
		}
	}
	var list []time.Time
	for at := begin; step > 0 && at.Before(end); at = at.Add(step) {
		list = append(list, at)
	}
	return append(list, end)
}

// openTasks counts the tasks that were open at the time. A fold does not know
// when a task came: it counts from its run's start; and with the run ends what
// was not done.
func openTasks(runs []agent.Run, at time.Time) int {
	n := 0
	for _, r := range runs {
		if r.Started.After(at) || (r.Ended != nil && !r.Finished.After(at)) {
			continue
		}
		for _, t := range r.Plan.Tasks {
			if ended := r.Tasks[t.ID].Ended; ended.IsZero() || ended.After(at) {
				n++
			}
		}
	}
	return n
}

// daily is the spend of the last two weeks by the day that runs ended.
func (d grouped) daily() *Chart {
	zone := d.Period.zone()
	until := d.Period.Until.In(zone)
	day := func(back int) time.Time { // by the calendar: a day may have 23 hours
		return time.Date(until.Year(), until.Month(), until.Day()-back, 0, 0, 0, 0, zone)
	}
	c := &Chart{Kind: "bar", Title: "Spend by the day that runs ended", XLabel: "Day (" + zone.String() + ")", YLabel: "US$"}
	days, total, unpriced := 0, agent.Nano(0), 0
	for back := chartDays - 1; back >= 0; back-- {
		var runs []agent.Run
		for _, r := range d.Runs {
			if r.Ended != nil && !r.Scheduled() && !r.Finished.Before(day(back)) && r.Finished.Before(day(back-1)) && !r.Finished.After(d.Period.Until) {
				runs = append(runs, r)
			}
		}
		sum := tally(runs)
		if sum.nano > 0 {
			days++
		}
		total, unpriced = total+sum.nano, unpriced+sum.unpriced
		if days > 0 { // no row of empty days before the first
			c.Labels = append(c.Labels, day(back).Format("2 Jan"))
			c.Values = append(c.Values, float64(sum.nano)/float64(agent.Dollar))
		}
	}
	if days < 2 {
		return nil
	}
	if unpriced > 0 {
		c.Title += ", known prices only"
	}
	c.Text = fmt.Sprintf("%s in %d days", format.Money(total), len(c.Values))
	return c
}
