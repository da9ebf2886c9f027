package card

import (
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// A run as an item of a list, in chat and in `status --json`.

// Status is where a run stands, in the shape of `status --json`.
type Status struct {
	Run        agent.RunID    `json:"run"`
	Goal       string         `json:"goal"`
	State      agent.RunState `json:"state"`
	WaitingFor string         `json:"waiting_for"`
	Waits      string         `json:"-"` // the same in words of a card
	Where      string         `json:"-"` // the thread that it lives in, where others can be led there
	Started    time.Time      `json:"started"`
	Tasks      Progress       `json:"tasks"`
	Cost       *agent.Nano    `json:"cost_usd"`
	Tokens     int64          `json:"tokens"`
	// Problem says why the journal cannot be read, empty if it can.
	Problem string `json:"problem,omitempty"`
}

// Damaged is the state of a run whose journal cannot be read.
const Damaged agent.RunState = "damaged"

// StatusOfDamaged is what can be said of a run whose journal cannot be read.
func StatusOfDamaged(run agent.RunID, started time.Time, why error) Status {
	return Status{Run: run, State: Damaged, Started: started, Problem: why.Error()}
}

// Progress counts tasks.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// StatusOf sums up a fold.
func StatusOf(r agent.Run) Status {
	done, total := r.Progress()
	s := Status{Run: r.ID, Goal: r.Brief.Goal, State: r.State(), Started: r.Started,
		Tasks: Progress{done, total}, Cost: r.Spent.Dollars(), Tokens: r.Spent.Tokens()}
	if !r.Brief.Direct && !strings.HasSuffix(r.Brief.ReplyTo, ":") {
		s.Where = r.Brief.ReplyTo
	}
	if r.Ended == nil && r.Cancelled != nil { // whoever works it ends it; perhaps nobody does
		s.State, s.Waits = agent.RunCancelled, cancelled(r)
		return s
	}
	switch {
	case r.Cancelled != nil && r.State() == agent.RunCancelled:
		s.Waits = cancelled(r)
	case agent.Undelivered(r) != "":
		s.WaitingFor = "an administrator: the report could not be posted: " + strings.TrimPrefix(agent.Undelivered(r), "error: ")
		s.Waits = "**could not be posted**: " + text.Quoted(agent.Undelivered(r), 160)
	case s.State == agent.RunPaused && r.Refused != "":
		s.WaitingFor = r.Refused
		s.Waits = "paused: " + text.Escape(Refusal(r))
	case s.State == agent.RunPaused:
		s.WaitingFor = "resume (paused by " + r.Paused + ")"
		s.Waits = "paused by " + PausedBy(r.Paused)
	case r.Ended == nil:
		if c := r.OpenCheckpoint(); c != nil {
			s.WaitingFor = string(c.Ask) + " " + string(c.ID) + ": " + c.Title
			s.Waits = "waits " + WaitReasons[c.Ask] + ": " + text.Quoted(Title(r, *c), 100)
		} else if retry, waits := r.Strands.NextRetry(); waits {
			words := "the model " + retryWords(retry.Reason, retry.At)
			s.WaitingFor = bot.Unmention(words, func(who string) string { return who })
			s.Waits = "waits: " + text.Escape(words)
		}
	}
	return s
}
