package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Digest identifies a call: SHA-256 (hex) over the tool's name and its
// canonical arguments (RFC 8785).
func Digest(tool string, canonical json.RawMessage) string {
	sum := sha256.Sum256(append([]byte(tool+"\x00"), canonical...))
	return hex.EncodeToString(sum[:])
}

// talk changes the strand's conversation for one purpose.
func (r Run) talk(id StrandID, p llm.Purpose, change func(t *Talk)) Run {
	return r.strand(id, func(s *Strand) {
		t := s.Talks.Of(p)
		change(&t)
		s.Talks = s.Talks.with(p, t)
	})
}

// answered settles a model call and, where its answer was usable, opens the
// calls that it made.
func (r Run) answered(id StrandID, b ModelAnswered) Run {
	s := r.Strands[id]
	if s.Call == nil || s.Call.Call != b.Call {
		return r // settled already
	}
	s.Call = nil
	switch {
	case b.Purpose == llm.CheckIn: // no trouble of the work's
		s.CheckIn.Failed = b.Error
	case b.Purpose == llm.Work && b.Error == "" && !b.Lost:
		s.CheckIn.Calls++
		fallthrough
	default:
		s.Error = b.Error
	}
	r.Strands = with(r.Strands, id, s)
	r.Spent.Calls++
	r.Spent.Prompt += b.Prompt
	r.Spent.Completion += b.Completion
	r.Spent.Time += b.Took
	if b.Cost == nil {
		r.Spent.Unpriced = true
	} else {
		r.Spent.Cost += *b.Cost
	}
	switch {
	case b.Refused && b.Purpose != llm.CheckIn:
		r.Refused = b.Error
		s.Error = ""
		r.Strands = with(r.Strands, id, s)
		return r
	case b.Lost || b.Error != "":
		return r
	}
	prefix := string(id) + "." + strconv.Itoa(s.Calls)
	return r.talk(id, b.Purpose, func(t *Talk) { t.take(b, prefix, r.Seq) })
}

func (t *Talk) take(b ModelAnswered, prefix string, seq uint64) {
	if b.Message != nil {
		t.Entries = t.Entries.Push(Entry{Answer: b.Message})
		t.Open, t.Struck = nil, false
		for i, c := range b.Message.Calls {
			t.Open = append(t.Open, OpenCall{Call: c, Effect: EffectID(prefix + "." + strconv.Itoa(i))})
		}
	}
	if b.Problem == "" {
		return
	}
	t.Strikes++
	if len(t.Open) == 0 {
		t.Entries = t.Entries.Push(Entry{Note: &Note{By: Deckhand, Text: b.Problem, Trusted: true}})
		return
	}
	for len(t.Open) > 0 {
		t.close(0, Reply{Text: b.Problem}, seq)
	}
}

// close replies to the open call at the index and lets held notes go once all
// calls have their reply.
func (t *Talk) close(i int, reply Reply, seq uint64) {
	reply.Call, reply.Name = t.Open[i].ID, t.Open[i].Name
	t.Entries = t.Entries.Push(Entry{Reply: &reply, Seq: seq})
	t.Open = slices.Delete(slices.Clone(t.Open), i, i+1)
	if len(t.Open) == 0 && len(t.Held) > 0 {
		t.Entries = t.Entries.Push(t.Held...)
		t.Held = nil
	}
}

// replied answers a call that had no effect. A Problem counts as a strike, one
// an answer however many of its calls have one; any other reply ends the row.
func (r Run) replied(id StrandID, b CallReplied) Run {
	for _, in := range r.Strands[id].Talks {
		for i, c := range in.Talk.Open {
			if c.Effect != b.Effect {
				continue
			}
			return r.talk(id, in.Purpose, func(t *Talk) {
				switch {
				case b.Repair:
					t.Strikes, t.Repairs = 0, t.Repairs+1
				case b.Problem && !t.Struck:
					t.Strikes, t.Struck = t.Strikes+1, true
				case b.Problem:
				default:
					t.Strikes, t.Repairs = 0, 0
				}
				t.close(i, Reply{Text: b.Text}, r.Seq)
			})
		}
	}
	return r
}

// intend binds an intent to its call.
func (r Run) intend(id StrandID, b ToolIntent) Run {
	if id == Voice {
		return r.intendPost(b)
	}
	return r.updateOpen(id, func(c *OpenCall) bool {
		mine := c.Effect == b.Effect
		if mine { // a new attempt of a deferred effect is under way again
			c.Intent, c.Until = &b, time.Time{}
		}
		return mine
	})
}

// outcome closes the call of an effect. A question whether the effect happened
// is answered by it.
func (r Run) outcome(id StrandID, b ToolOutcome) Run {
	if id == Voice {
		return r.spoke(b)
	}
	r.Touched = touched(r.Touched, b.Files)
	for _, in := range r.Strands[id].Talks {
		for i, c := range in.Talk.Open {
			if c.Effect != b.Effect {
				continue
			}
			if check, asked := r.Checks[c.Checkpoint]; asked && check.Open() {
				check.Decision = &CheckpointDecided{ID: check.ID, Decision: DecideDone, By: Deckhand, Text: "its outcome arrived"}
				r.Checks = with(r.Checks, check.ID, check)
			}
			r.Spent.Tools++
			r.Spent.Time += b.Took
			return r.talk(id, in.Purpose, func(t *Talk) {
				t.Strikes = 0
				t.close(i, Reply{Text: b.Text, Trust: b.Trust, Artifact: b.Artifact}, r.Seq)
			})
		}
	}
	return r
}

// updateOpen changes the first of the strand's open calls for which change
// returns true.
func (r Run) updateOpen(id StrandID, change func(c *OpenCall) bool) Run {
	for _, in := range r.Strands[id].Talks {
		for i, c := range in.Talk.Open {
			if !change(&c) {
				continue
			}
			return r.talk(id, in.Purpose, func(t *Talk) {
				t.Open = slices.Clone(t.Open)
				t.Open[i] = c
			})
		}
	}
	return r
}

func (r Run) updateCall(id StrandID, effect EffectID, change func(c *OpenCall)) Run {
	return r.updateOpen(id, func(c *OpenCall) bool {
		if c.Effect != effect {
			return false
		}
		change(c)
		return true
	})
}

// note adds what somebody said to every conversation that goes on.
func (r Run) note(n Note) Run {
	r.Said = push(r.Said, n)
	for id, s := range r.Strands {
		if !s.Ended && id != Voice {
			r = r.noteTo(id, n)
			if n.By != Deckhand {
				r = r.afresh(id)
			}
		}
	}
	return r
}

// noteTo says something to a strand: to a task's worker even while a judge
// looks at its result, to the main strand while it plans for the first time
// (later plans and the report have Run.Said in their briefs).
func (r Run) noteTo(id StrandID, n Note) Run {
	purpose := llm.Work
	if _, works := id.Task(); !works {
		if purpose = r.Purpose(id); purpose != llm.Intake {
			return r
		}
	}
	return r.talk(id, purpose, func(t *Talk) {
		if len(t.Open) > 0 {
			t.Held = push(t.Held, Entry{Note: &n})
			return
		}
		t.Entries = t.Entries.Push(Entry{Note: &n})
	})
}
