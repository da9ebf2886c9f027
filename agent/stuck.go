package agent

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// maxStuckTitle bounds a task's title within a question about a way out.
const maxStuckTitle = 60 // characters

// StuckTitle is the title of a question about a way out: of which task, and why
// the work stopped.
func (r Run) StuckTitle(s StrandID, why string) string {
	id, _ := s.Task()
	if t, known := r.Plan.Task(id); known && t.Title != "" {
		return "Stuck on “" + format.Line(t.Title, maxStuckTitle) + "”: " + why
	}
	return "Stuck: " + why
}

// Bullets are the lines as a list, each of them in one line.
func Bullets(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("- " + strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}

// stuckOn is why the strand was stopped, as fully as it is known.
func (r Run) stuckOn(c Checkpoint) string {
	if c.Strand == Main {
		return c.Title
	}
	return cmp.Or(r.stopped(c.Strand), c.Title)
}

// stopped is what last stopped the strand, empty if nothing did.
func (r Run) stopped(s StrandID) string {
	for _, f := range slices.Backward(r.Findings) {
		if f.Strand == s && f.Severity == FindingStop {
			return "stuck: " + f.Message
		}
	}
	return ""
}

// gaveUp is the question about a way out that ended the run: nobody answered it
// in time, or a person said that what there is must do. Nil if there is none.
func (r Run) gaveUp() *Checkpoint {
	for _, id := range r.Asked {
		c := r.Checks[id]
		if c.Ask != CheckStuck || c.Decision == nil {
			continue
		}
		switch c.Decision.Decision {
		case DecideRetry, DecideSkip, DecideCancel:
		default:
			return &c
		}
	}
	return nil
}

// gaveUpTask is why the task failed at which the run ended, in a few words: the
// run's own reason says it all.
func (r Run) gaveUpTask(c Checkpoint) string {
	why := r.stuckOn(c)
	if message, is := strings.CutPrefix(why, "stuck: "); is {
		head, _, _ := strings.Cut(message, ": ")
		why = "stuck: " + head
	}
	if c.Decision.Decision == DecideExpired {
		return why + "; nobody said in time what to do"
	}
	return why + "; the run ends with what there is"
}

// skipped is why the task failed whose question was answered with a skip.
func (r Run) skipped(c Checkpoint, b CheckpointDecided) string {
	if b.By == Deckhand && b.Text != "" {
		return r.stuckOn(c) + "; " + b.Text
	}
	return r.stuckOn(c) + "; skipped by " + b.By
}

// unanswered reports whether the run ends because nobody showed it a way out,
// without all of what it was to deliver.
func (r Run) unanswered() bool {
	c := r.gaveUp()
	return c != nil && c.Decision.Decision == DecideExpired && !r.Complete()
}

// gaveUpReason is why the run ended at a question about a way out.
func (r Run) gaveUpReason(c Checkpoint) string {
	why := c.Title
	if c.Strand != Main {
		if _, message, is := strings.Cut(r.stuckOn(c), "stuck: "); is {
			why = r.StuckTitle(c.Strand, message)
		}
	}
	if c.Decision.Decision == DecideExpired {
		return why + ". Nobody said in time what to do"
	}
	return why + ". Ended by " + c.Decision.By + " with what there was"
}
