package recollect

// This file says what is worth keeping of a run that ends.

import (
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/records"
)

// Bounds of what is kept.
const (
	keptText      = 1500 // characters of a report, a lesson, a statement
	maxStatements = 50
	fewestSpoken  = 4 // words of a statement that is worth keeping
)

// After are the records of a run that has just ended: its outcome, its lessons
// and what people stated on the way. Their ids follow from the run and from what
// was said, so that whoever writes them twice writes nothing twice.
func After(run *agent.Run, at time.Time) []records.Record {
	if run.Brief.Tick != nil && run.Brief.Tick.Report || run.Ended == nil {
		return nil
	}
	v := records.ViewerOf(run.Brief)
	scope, err := v.Scope(records.Channel)
	if err != nil {
		return nil
	}
	of := func(kind records.Kind, text string) records.Record {
		return records.Record{ID: records.IDOf(kind, scope, text), Kind: kind, Scope: scope, Text: format.Cut(text, keptText), Time: at.UTC(),
			Trust: agent.Untrusted, Source: records.Source{Run: run.ID, Person: run.Brief.Requester, Place: v.Place}}
	}
	var list []records.Record
	if _, is := agent.GoalName(*run); is {
		e := of(records.Episode, outcome(run))
		e.ID = "run-" + string(run.ID)
		e.Caption = format.Cut(strings.Join(run.Touched, " "), keptText)
		list = append(list, e)
	}
	if run.Report != nil {
		for _, l := range run.Report.Lessons {
			if strings.TrimSpace(l) != "" {
				list = append(list, of(records.LessonKind, l))
			}
		}
	}
	for _, said := range run.Said[max(0, len(run.Said)-maxStatements):] {
		if !isStatement(said) {
			continue
		}
		s := of(records.Fact, said.Text)
		s.Trust, s.Source.Person, s.Source.Message, s.Speaker = agent.Trusted, said.By, said.Message, said.By
		list = append(list, s)
	}
	return once(list)
}

// once drops records whose id came before.
func once(list []records.Record) []records.Record {
	var kept []records.Record
	for _, r := range list {
		if !slices.ContainsFunc(kept, func(k records.Record) bool { return k.ID == r.ID }) {
			kept = append(kept, r)
		}
	}
	return kept
}

// outcome tells a run in a few lines.
func outcome(run *agent.Run) string {
	lines := []string{"Goal: " + format.Cut(run.Brief.Goal, keptText/3), "Outcome: " + string(run.Ended.State)}
	if run.Ended.Reason != "" {
		lines = append(lines, "Why: "+format.Cut(run.Ended.Reason, keptText/5))
	}
	if run.Report != nil {
		lines = append(lines, "Report: "+run.Report.Headline, format.Cut(run.Report.Body, keptText/3))
	}
	return strings.Join(lines, "\n")
}

// isStatement reports whether words of somebody who may steer say something that
// is worth knowing later: no question, no mere nod.
func isStatement(said agent.Note) bool {
	text := strings.TrimSpace(said.Text)
	return said.Trusted && said.By != agent.Deckhand && said.Author == "" && !strings.HasSuffix(text, "?") && len(strings.Fields(text)) >= fewestSpoken
}
