package digest

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Digest is the content of a scheduled report. Body is Markdown in which
// people stand as the tokens of Mention, and in which everything that others
// wrote is escaped already: a card shows it as it stands.
type Digest struct {
	Headline string // one line of plain text
	Body     string // with the headings Done, Doing, Blocked, Needs you, Spend
	// Mark stands for where the live runs are, to be kept for the next report
	// (see News). No time, elapsed time or amount of money goes into it.
	Mark  string
	Empty bool // no run lives, none ended in the period
	Chart *Chart

	ended bool // in the period
}

// News reports whether there is anything to tell after a report whose Mark was
// before: a run ended in the period, or the live ones are not where they were.
// A quiet schedule posts nothing where there is none.
func (d Digest) News(before string) bool { return !d.Empty && (d.ended || d.Mark != before) }

// New makes a report. It is pure: the same runs and period give the same text.
func New(from Source) Digest {
	d := group(from)
	sections := []struct {
		title string
		lines []string
	}{
		{"Done", d.doneLines()}, {"Doing", d.doingLines()}, {"Blocked", d.blockedLines()},
		{"Needs you", d.needLines()}, {"Spend", d.spendLines()},
	}
	blocks := []string{d.preface()}
	for _, s := range sections {
		blocks = append(blocks, "## "+s.title, bullets(s.lines))
	}
	return Digest{
		Headline: d.headline(), Body: strings.Join(blocks, "\n\n"), Mark: d.mark(),
		Empty: d.empty(), Chart: d.chart(), ended: len(d.ended) > 0,
	}
}

// headline is the counts and the money in one line.
func (d grouped) headline() string {
	var parts []string
	count := func(n int, words string) {
		if n > 0 {
			parts = append(parts, format.Thousands(int64(n))+" "+words)
		}
	}
	count(len(d.in(agent.RunDone)), "done")
	count(len(d.in(agent.RunFailed)), "failed")
	count(len(d.in(agent.RunCancelled)), "cancelled")
	count(len(d.doing), "at work")
	count(len(d.blocked), "blocked")
	if n := len(d.needs); n == 1 {
		count(n, "needs you")
	} else {
		count(n, "need you")
	}
	count(len(d.lost), "not delivered")
	count(len(d.Unread), "unreadable")
	if len(parts) == 0 {
		return "Nothing happened, nothing is open"
	}
	text := strings.Join(parts, ", ")
	if sum := tally(slices.Concat(d.ended, d.live)); sum.calls > 0 {
		text = dotted(text, sum.least())
	}
	return text
}

// preface says which time and which runs the report is about.
func (d grouped) preface() string {
	p := d.Period
	line := "Up to " + p.clock(p.Until)
	if !p.Since.IsZero() {
		line = "From " + p.clock(p.Since) + " to " + p.clock(p.Until)
	}
	line += "."
	if d.Omitted > 0 {
		line += " " + format.Count(d.Omitted, "older run") + " could not be looked at: there are too many."
	}
	return line
}

// maxLines is how many lines a section has.
const maxLines = 10

func bullets(lines []string) string {
	if len(lines) == 0 {
		return "Nothing."
	}
	return "- " + strings.Join(text.AtMost(lines, maxLines), "\n- ")
}
