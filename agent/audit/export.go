package audit

// The decisions, one after the other.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Record is one decision of a run, or one entry of a process, as it is exported.
// N is the entry of the chain that it stands in.
type Record struct {
	N    uint64      `json:"n"`
	Run  agent.RunID `json:"run,omitempty"`
	Kind string      `json:"kind"`
	At   time.Time   `json:"at"`
	Decision
	// About is the question that a person decided, where the chain has it.
	About *Decision         `json:"about,omitempty"`
	Facts map[string]string `json:"facts,omitempty"`
}

// Export gives each record since the time to the function, in the chain's order.
func Export(ctx context.Context, s Store, since time.Time, each func(r Record) error) error {
	asked := map[string]Decision{}
	from, err := startOf(ctx, s)
	if err != nil {
		return err
	}
	for n := from.n; ; {
		lines, err := s.ReadTrail(ctx, n, page)
		if err != nil || len(lines) == 0 {
			return err
		}
		for _, line := range lines {
			n++
			e, err := parse(line)
			if err != nil {
				return fmt.Errorf("entry %d of the audit chain cannot be read: `deckhand audit verify` says what is wrong: %w", n, err)
			}
			if err := exportEntry(e, asked, since, each); err != nil {
				return err
			}
		}
	}
}

func exportEntry(e Entry, asked map[string]Decision, since time.Time, each func(r Record) error) error {
	if e.Kind != KindSeal {
		if e.At.Before(since) {
			return nil
		}
		return each(Record{N: e.N, Kind: string(e.Kind), At: e.At, Decision: Decision{Who: e.Who, What: e.What}, Facts: e.Facts})
	}
	for _, d := range e.Decisions {
		r := Record{N: e.N, Run: e.Run, Kind: string(d.Kind), At: d.At, Decision: d}
		switch {
		case d.Kind == Asked:
			asked[d.Checkpoint] = d
		case d.Checkpoint != "":
			if about, known := asked[d.Checkpoint]; known {
				r.About = &about
			}
		}
		if d.At.Before(since) {
			continue
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// lookedBack is how many of the newest entries a person's decisions are looked
// for in.
const lookedBack = 5000

// Decisions are the newest decisions of a person in words, the newest first.
func Decisions(ctx context.Context, s Store, by string, most int) ([]string, error) {
	last, err := s.TrailEnd(ctx)
	if err != nil {
		return nil, err
	}
	from, err := startOf(ctx, s)
	if err != nil {
		return nil, err
	}
	asked := map[string]Decision{}
	var lines []string
	for n := max(from.n, last-min(last, lookedBack)); n < last; {
		page, err := s.ReadTrail(ctx, n, page)
		if err != nil || len(page) == 0 {
			return nil, err
		}
		n += uint64(len(page))
		for _, line := range page {
			e, err := parse(line)
			if err != nil {
				continue // `deckhand audit verify` tells of it
			}
			_ = exportEntry(e, asked, time.Time{}, func(r Record) error {
				if kind := DecisionKind(r.Kind); r.Who == by && (kind == ByPerson || kind == Control) {
					lines = append(lines, r.Words())
				}
				return nil
			})
		}
	}
	slices.Reverse(lines)
	return lines[:min(most, len(lines))], nil
}

// Words tells a record in one line.
func (r Record) Words() string {
	var b strings.Builder
	b.WriteString(stamp(r.At) + "  ")
	if r.Run != "" {
		fmt.Fprintf(&b, "%s #%d  ", r.Run, r.Seq)
	}
	switch DecisionKind(r.Kind) {
	case ByPerson:
		fmt.Fprintf(&b, "%s: %s", r.Who, r.What)
		if r.About != nil {
			b.WriteString(about(*r.About))
		}
	case ByPolicy, Sandbox, Gate:
		fmt.Fprintf(&b, "%s by rule %s", verdicts[r.What], r.Who)
	case Asked:
		b.WriteString("asked people: " + r.What)
	case Began:
		fmt.Fprintf(&b, "%s began a run, autonomy %s", r.Who, r.What)
	case Ended:
		b.WriteString("the run ended: " + r.What)
	case Control:
		fmt.Fprintf(&b, "%s: %s", r.Who, r.What)
	default:
		b.WriteString(strings.TrimSuffix(r.Kind+": "+r.What, ": "))
		if r.Who != "" {
			b.WriteString(" (" + r.Who + ")")
		}
	}
	b.WriteString(call(r.Decision))
	return b.String()
}

var verdicts = map[string]string{string(agent.Allow): "allowed", string(agent.Deny): "denied", string(agent.Ask): "left to people"}

// about tells the question that a person decided.
func about(d Decision) string { return " (" + d.What + call(d) + ")" }

// call tells the call that a decision is about.
func call(d Decision) string {
	text := ""
	if d.Tool != "" {
		text += " · " + d.Tool
	}
	if len(d.Arguments) >= 12 {
		text += " · arguments " + d.Arguments[:12]
	}
	if d.Policy != "" {
		text += " · policy " + d.Policy
	}
	return text
}
