package recollect

// This file looks up what bears on the work ahead of a strand. Recall is a help:
// where it fails the run goes on without.

import (
	"context"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/records"
)

// Bounds of what is recalled.
const (
	maxAtIntake = 6
	maxAtTask   = 4
	// fewestWords is the least share of the best match by words that a record has
	// which is told.
	fewestWords = 0.2
	// nearest is the cosine from which a record counts by its meaning alone.
	nearest        = 0.5
	rememberedText = 600 // characters of a record in a prompt
	// Patience is how long a run waits for what is remembered; it goes on
	// without, rather than wait longer.
	Patience = 3 * time.Second
)

// Before looks up what bears on the strand's work, the best first, with how well
// each fits, without what came of the runs that are told as a whole. The run's
// requester has to see it where the run lives.
func Before(ctx context.Context, m records.Memory, view *agent.Run, s agent.StrandID, told []agent.Episode) (list []agent.Remembered, scores []float64, err error) {
	text, most := view.Brief.Goal, maxAtIntake
	if id, is := s.Task(); is {
		task, _ := view.Plan.Task(id)
		text, most = task.Title+"\n"+view.Tasks[id].Instructions, maxAtTask
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	hits, err := m.Search(ctx, records.Query{Text: text, Viewer: records.ViewerOf(view.Brief), Limit: 3 * most})
	if err != nil {
		return nil, nil, err
	}
	for _, h := range hits {
		if len(list) == most {
			break
		}
		if fits := h.Parts.Words >= fewestWords || h.Parts.Meaning >= nearest; fits && !known(view, told, h.Record) {
			list, scores = append(list, remembered(h.Record)), append(scores, h.Score)
		}
	}
	return list, scores, nil
}

// known reports whether the record is not to be told: it is of this run, or of an
// earlier one of its goal, whose outcome is told as a whole; or nobody has
// accepted it yet.
func known(view *agent.Run, told []agent.Episode, rec records.Record) bool {
	if rec.Kind == records.Skill && rec.Label() != agent.Trusted {
		return true // a proposal: people look at it first
	}
	if rec.Source.Run == "" {
		return false
	}
	return rec.Source.Run == view.ID || rec.Kind == records.Episode &&
		slices.ContainsFunc(told, func(e agent.Episode) bool { return e.Run == rec.Source.Run })
}

// remembered is a record as prompts show it.
func remembered(rec records.Record) agent.Remembered {
	text := rec.Text
	if rec.Caption != "" && rec.Kind != records.Skill {
		text += "\n[" + rec.Caption + "]"
	}
	at := rec.Time
	if at.IsZero() {
		at = rec.Written
	}
	return agent.Remembered{ID: rec.ID, Kind: string(rec.Kind), Scope: string(rec.Scope), Text: format.Cut(text, rememberedText),
		Speaker: rec.Speaker, Time: at.UTC(), Trust: rec.Label()}
}
