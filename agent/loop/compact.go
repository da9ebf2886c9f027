package loop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/artifact"
	"github.com/deckhand-bot/deckhand/agent/prompt"
)

// compacter keeps the conversation of a task's work within the model's context
// window, and shows again what was taken out of it.
type compacter struct{ *turn }

// leastWindow is the smallest window that is reckoned with, in tokens: shorter
// requests are not looked at.
const leastWindow = 2048

// full reports whether the request has no room in the model's window, and
// journals what is done about it: long results that are old are shortened at
// once, or a model is asked to sum up the beginning.
func (c compacter) full(ctx context.Context, view *agent.Run, ready prompt.Ready, tokens int) bool {
	if ready.Purpose != llm.Work {
		return false
	}
	st := view.Strands.Of(c.lease.Strand)
	room := prompt.Room{Tokens: max(tokens, st.Window.Prompt), Answer: c.MaxAnswer, Window: st.Window.Tokens}
	if room.Tokens < leastWindow/2 {
		return false
	}
	if c.Window != nil {
		known := c.Window(ctx, ready.Model)
		if room.Window == 0 || known > 0 && known < room.Window {
			room.Window = known
		}
	}
	if !room.Full() {
		return false
	}
	made := c.cut(view, room, false)
	c.events(made)
	return len(made) > 0
}

// cut is which entries have to go, and that they went where no model is needed
// for it; empty: none can.
func (c compacter) cut(view *agent.Run, room prompt.Room, refused bool) []agent.Body {
	work := view.Strands.Of(c.lease.Strand).Talks.Of(llm.Work)
	n, light := room.Cut(work.Entries)
	if n == 0 {
		return nil // the newest turn alone takes the room
	}
	made := []agent.Body{agent.ContextFull{Tokens: room.Tokens, Window: room.Window, Entries: n, Refused: refused}}
	if light {
		made = append(made, agent.Compacted{Entries: n, Events: work.Spans(n)})
	}
	return made
}

// refused makes room after the endpoint refused a request for its length. Where
// it did not say how long one may be, the request was too long by a quarter.
func (c compacter) refused(view *agent.Run, ready prompt.Ready, err error) []agent.Body {
	fault, is := errors.AsType[*llm.Error](err)
	if !is || fault.Fault != llm.TooLong || ready.Purpose != llm.Work {
		return nil
	}
	tokens := llm.Count(ready.Request)
	window := fault.Window
	if window <= 0 || window > tokens {
		window = tokens * 3 / 4
	}
	return c.cut(view, prompt.Room{Tokens: tokens, Answer: c.MaxAnswer, Window: window}, true)
}

// take puts a model's summary in the place of what it sums up. The whole of that
// is kept as an artifact. A summary that is no shorter is none.
func (c compacter) take(ctx context.Context, view *agent.Run, call agent.OpenCall, s prompt.Summary) error {
	st := view.Strands.Of(c.lease.Strand)
	full := st.Window.Full
	if full == nil {
		c.reply(call, "noted")
		return nil
	}
	work := st.Talks.Of(llm.Work)
	whole := prompt.Transcript(work.Entries, full.Entries, 0)
	text := s.Text(prompt.Room{Window: full.Window})
	if len(text) >= len(whole) || strings.TrimSpace(s.Progress) == "" {
		c.refuse(call, "the summary is empty, or longer than what it sums up: say what was done in a few sentences")
		return nil
	}
	hash, err := c.artifacts().Keep(ctx, whole)
	if err != nil {
		return err
	}
	c.reply(call, "noted")
	c.event(agent.Compacted{Entries: full.Entries, Events: work.Spans(full.Entries), Summary: text, Artifact: hash})
	return nil
}

// maxReading is how much of a result is shown again at once, in characters.
const maxReading = 6000

// reading is what read_result asks for.
type reading struct {
	ID     string `json:"id"`
	Offset int    `json:"offset"`
	Find   string `json:"find"`
}

// show shows an earlier result again, from an offset or from a text on.
func (c compacter) show(ctx context.Context, view *agent.Run, call agent.OpenCall, r reading) error {
	text, trust, err := c.original(ctx, view, strings.TrimSpace(r.ID))
	if err != nil {
		return err
	}
	if text == "" {
		c.refuse(call, fmt.Sprintf("there is no result %q in this task's conversation: ids are numbers like \"#12\", or artifacts that it named", r.ID))
		return nil
	}
	runes := []rune(text)
	from := min(max(r.Offset, 0), len(runes))
	if i := strings.Index(string(runes[from:]), r.Find); r.Find != "" && i < 0 {
		c.reply(call, fmt.Sprintf("the result of %d characters does not contain that text after character %d", len(runes), from))
		return nil
	} else if r.Find != "" {
		from += utf8.RuneCountInString(string(runes[from:])[:i])
	}
	to := min(from+maxReading, len(runes))
	shown := string(runes[from:to])
	if from > 0 || to < len(runes) {
		shown = fmt.Sprintf("[characters %d to %d of %d]\n%s", from, to, len(runes), shown)
	}
	c.event(agent.CallReplied{Effect: call.Effect, Text: shown, Trust: trust})
	return nil
}

// original is the whole text of an earlier result of this strand, empty: there
// is none.
func (c compacter) original(ctx context.Context, view *agent.Run, id string) (text string, trust agent.Trust, err error) {
	hash, trust := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(id, "${"), "artifact:"), "}"), agent.Untrusted
	if n, is := strings.CutPrefix(id, "#"); is {
		seq, _ := strconv.ParseUint(n, 10, 64) // 0, or the largest, where it is no number
		if seq == 0 || seq > view.Seq {
			return "", "", nil
		}
		o, err := c.outcome(ctx, seq)
		if err != nil || o == nil || o.Artifact == "" {
			if o == nil {
				return "", "", err
			}
			return o.Text, o.Trust, err
		}
		hash, trust = o.Artifact, o.Trust
	} else if work := view.Strands.Of(c.lease.Strand).Talks.Of(llm.Work); !artifact.Shown(work, hash) {
		return "", "", nil
	}
	whole, err := c.artifacts().Read(ctx, hash)
	if errors.Is(err, agent.ErrNoBlob) {
		return "", "", nil
	}
	return string(whole), trust, err
}

// outcome is the result with the number, nil: this strand had none.
func (c compacter) outcome(ctx context.Context, seq uint64) (*agent.ToolOutcome, error) {
	events, err := c.Store.Read(ctx, c.lease.Run, seq-1)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	o, is := events[0].Body.(agent.ToolOutcome)
	if !is || events[0].Strand != c.lease.Strand {
		return nil, nil //nolint:nilnil // none is no error
	}
	return &o, nil
}
