package agent

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Strand is one line of work within a run: what it said to the model, what
// came back, and which of the model's calls are still open.
type Strand struct {
	Talks Talks `json:"talks,omitempty"`
	// Call is the model call under way, nil if none. After a crash it is lost.
	Call *ModelAsked `json:"call,omitempty"`
	// Calls counts the strand's model calls, so that effect ids never repeat.
	Calls     int            `json:"calls"`
	Finishing *TaskFinishing `json:"finishing,omitempty"`
	Judged    *TaskJudged    `json:"judged,omitempty"`
	Passed    bool           `json:"passed,omitempty"` // its check, and a reviewer looks
	CheckIn   CheckIn        `json:"check_in,omitzero"`
	Window    Window         `json:"window,omitzero"`
	// Error is why the model could not be asked, empty if it could.
	Error  string    `json:"error,omitempty"`
	Ticked time.Time `json:"ticked,omitzero"` // newest TimePassed
	// Retry is set while the model's endpoint is limited or away.
	Retry Retry `json:"retry,omitzero"`
	// Offered are the tools that were chosen for the strand, all of them; nil: it
	// has every tool.
	Offered *ToolsOffered `json:"offered,omitempty"`
	// Provenance is whose texts the conversation held that is not kept any more: its
	// summary, and what the task handed on, are made of them.
	Provenance Provenance `json:"provenance,omitempty"`
	// Documents are the tools whose documentation its conversation has, with the
	// hash of each.
	Documents []Document `json:"documents,omitempty"`
	Ended     bool       `json:"ended,omitempty"`
}

// Retry is a question to the model that is put again, because the model's
// endpoint is limited or away. The zero Retry is none.
type Retry struct {
	At     time.Time `json:"at"`     // when it is put again
	Since  time.Time `json:"since"`  // of the first try in a row that came to nothing
	Tries  int       `json:"tries"`  // that came to nothing, in a row
	Reason string    `json:"reason"` // what the endpoint does: "is overloaded (HTTP 503)"
}

// after is what is left to retry after an answer, or after one more try that
// came to nothing at the time.
func (r Retry) after(b ModelAnswered, at time.Time) Retry {
	if b.RetryAt.IsZero() {
		return Retry{}
	}
	if r.Tries == 0 {
		r.Since = at
	}
	return Retry{At: b.RetryAt, Since: r.Since, Tries: r.Tries + 1, Reason: b.RetryReason}
}

// offered adds tools to those that a strand is offered, and tells its model what
// was written about some.
func (s Strands) offered(id StrandID, b ToolsOffered) Strands {
	s = s.document(id, b.Documents)
	if len(b.Names) == 0 && len(b.Documents) > 0 {
		return s
	}
	return s.change(id, func(st *Strand) {
		all := ToolsOffered{}
		if st.Offered != nil {
			all.Names, all.Scores = slices.Clone(st.Offered.Names), slices.Clone(st.Offered.Scores)
		}
		for i, name := range b.Names {
			if !slices.Contains(all.Names, name) && i < len(b.Scores) {
				all.Names, all.Scores = append(all.Names, name), append(all.Scores, b.Scores[i])
			}
		}
		st.Offered = &all
	})
}

// document puts the documentation of tools before the strand's model.
func (s Strands) document(id StrandID, list []Document) Strands {
	for _, d := range list {
		s = s.change(id, func(st *Strand) {
			st.Documents = slices.DeleteFunc(slices.Clone(st.Documents), func(old Document) bool { return old.Tool == d.Tool })
			st.Documents = append(st.Documents, Document{Tool: d.Tool, Hash: d.Hash})
		})
		if d.Text != "" {
			s = s.tell(id, llm.Work, Note{By: Deckhand, Author: d.Tool, Text: "Documentation of " + d.Tool + ", in the words of whoever made it:\n\n" + d.Text})
		}
	}
	return s
}

// Deferred reports whether the strand waits before it asks the model again.
func (s *Strand) Deferred() bool { return s.Ticked.Before(s.Retry.At) }

// Talk is one conversation of a strand, for one purpose. Entries only grow, so
// that requests keep their prefix.
type Talk struct {
	Entries History `json:"entries,omitzero"`
	// Open are the calls of the newest answer that have no reply yet, in order.
	Open []OpenCall `json:"open,omitempty"`
	// Held are notes that came while calls were open: the protocol wants every
	// call answered first.
	Held    []Entry `json:"held,omitempty"`
	Strikes int     `json:"strikes,omitempty"` // unusable replies in a row
	Struck  bool    `json:"struck,omitempty"`  // the newest answer is one of them
	Repairs int     `json:"repairs,omitempty"` // plans refused in a row
	// Cut counts how often something was taken out of the entries: they are to
	// be rendered anew then.
	Cut int `json:"cut,omitempty"`
	// Artifacts are those of results that were taken out of the entries: calls
	// may still name them.
	Artifacts []string `json:"artifacts,omitempty"`
}

// Entry is one turn: exactly one of Answer, Reply and Note is set. Seq is the
// event that a reply came with.
type Entry struct {
	Answer *llm.Message `json:"answer,omitempty"`
	Reply  *Reply       `json:"reply,omitempty"`
	Note   *Note        `json:"note,omitempty"`
	Seq    uint64       `json:"seq,omitempty"`
}

// Reply is the answer to one of the model's calls.
type Reply struct {
	Call     string `json:"call"`
	Name     string `json:"name"`
	Text     string `json:"text"`
	Trust    Trust  `json:"trust,omitempty"` // empty: Deckhand's own words
	Artifact string `json:"artifact,omitempty"`
	// Failed marks the result of a call that failed.
	Failed bool `json:"failed,omitempty"`
}

// Note is something that was said to the model on the way.
type Note struct {
	By      string `json:"by"` // "deckhand" for the engine
	Text    string `json:"text"`
	Trusted bool   `json:"trusted"`
	// Author wrote the words, where By passed them on.
	Author string `json:"author,omitempty"`
	// Lesson marks what a check-in learnt, in a model's words.
	Lesson bool `json:"lesson,omitempty"`
	// Message is the platform's message that the words are, as an address.
	Message string `json:"message,omitempty"`
}

// Deckhand is the author of notes that the engine itself writes.
const Deckhand = "deckhand"

// OpenCall is one of the model's calls on its way to a reply.
type OpenCall struct {
	llm.Call
	Effect EffectID `json:"effect"`
	// Edited replaces the model's arguments where a person edited them.
	Edited json.RawMessage `json:"edited,omitempty"`
	// Checkpoint is the newest question about this call, empty if none.
	Checkpoint CheckpointID `json:"checkpoint,omitempty"`
	Intent     *ToolIntent  `json:"intent,omitempty"`
	Until      time.Time    `json:"until,omitzero"` // deferred
	Deferred   int          `json:"deferred,omitempty"`
	// Progress is how far it is, in its tool's words.
	Progress string `json:"progress,omitempty"`
	// Again asks for a new attempt of an intent that a probe found undone.
	Again int `json:"again,omitempty"`
}

// Talks are a strand's conversations, one a purpose. A strand has one or two,
// which a list copies and keeps in less room than a map.
type Talks []struct {
	Purpose llm.Purpose `json:"purpose"`
	Talk    Talk        `json:"talk"`
}

// Of is the conversation for the purpose, empty if there is none.
func (t Talks) Of(p llm.Purpose) Talk {
	for i := range t {
		if t[i].Purpose == p {
			return t[i].Talk
		}
	}
	return Talk{}
}

// with returns the conversations with another one for the purpose.
func (t Talks) with(p llm.Purpose, talk Talk) Talks {
	c := slices.Clone(t)
	for i := range c {
		if c[i].Purpose == p {
			c[i].Talk = talk
			return c
		}
	}
	c = slices.Grow(c, 1)[:len(c)+1]
	c[len(c)-1].Purpose, c[len(c)-1].Talk = p, talk
	return c
}

// without returns the conversations but the one for the purpose.
func (t Talks) without(p llm.Purpose) Talks {
	c := make(Talks, 0, len(t))
	for i := range t {
		if t[i].Purpose != p {
			c = append(c, t[i])
		}
	}
	return c
}

// take adds a usable answer of the model, or says why it is none.
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

// finish notes the result that a judge looks at.
func (s *Strand) finish(b *TaskFinishing) {
	s.Finishing, s.Judged, s.Passed = b, nil, false
	s.Talks = s.Talks.without(llm.Check).with(llm.Judge, Talk{})
}

// forget takes the oldest lesson out of the prompt.
func (s *Strand) forget() {
	t := s.Talks.Of(llm.Work)
	t.Cut++
	if len(s.CheckIn.Learnt) > 0 {
		s.CheckIn.Learnt = s.CheckIn.Learnt[1:]
	} else {
		entries, gone := History{}, false
		for _, e := range t.Entries.All() {
			if !gone && e.Note != nil && e.Note.Lesson {
				gone = true
				continue
			}
			entries = entries.Push(e)
		}
		t.Entries = entries
	}
	s.Talks = s.Talks.with(llm.Work, t)
}

// Strands are the lines of work of a run. As a value: what changes one returns
// the others as they were.
type Strands struct{ Table[StrandID, Strand] }

// with returns the strands with another one in the place of the id's.
func (s Strands) with(id StrandID, st Strand) Strands { return Strands{s.With(id, st)} }

// change changes a strand. An event about any other is nobody's: a strand that
// nothing started must not begin to move.
func (s Strands) change(id StrandID, change func(s *Strand)) Strands {
	st, known := s.Get(id)
	if !known {
		return s
	}
	change(&st)
	return s.with(id, st)
}

// talk changes a strand's conversation for one purpose.
func (s Strands) talk(id StrandID, p llm.Purpose, change func(t *Talk)) Strands {
	return s.change(id, func(st *Strand) {
		t := st.Talks.Of(p)
		change(&t)
		st.Talks = st.Talks.with(p, t)
	})
}

// updateOpen changes the first of a strand's open calls for which change
// returns true.
func (s Strands) updateOpen(id StrandID, change func(c *OpenCall) bool) Strands {
	for _, in := range s.Of(id).Talks {
		for i, c := range in.Talk.Open {
			if !change(&c) {
				continue
			}
			return s.talk(id, in.Purpose, func(t *Talk) {
				t.Open = slices.Clone(t.Open)
				t.Open[i] = c
			})
		}
	}
	return s
}

// updateCall changes the strand's open call of the effect.
func (s Strands) updateCall(id StrandID, effect EffectID, change func(c *OpenCall)) Strands {
	return s.updateOpen(id, func(c *OpenCall) bool {
		if c.Effect != effect {
			return false
		}
		change(c)
		return true
	})
}

// openCall is the strand's open call of the effect, with the purpose of its
// conversation and its place there.
func (s Strands) openCall(id StrandID, effect EffectID) (c OpenCall, p llm.Purpose, i int, open bool) {
	for _, in := range s.Of(id).Talks {
		for i, c := range in.Talk.Open {
			if c.Effect == effect {
				return c, in.Purpose, i, true
			}
		}
	}
	return OpenCall{}, "", 0, false
}

// replied answers a call that had no effect. A Problem counts as a strike, one
// an answer however many of its calls have one; any other reply ends the row.
func (s Strands) replied(id StrandID, b CallReplied, seq uint64) Strands {
	_, purpose, i, open := s.openCall(id, b.Effect)
	if !open {
		return s
	}
	return s.talk(id, purpose, func(t *Talk) {
		switch {
		case b.Repair:
			t.Strikes, t.Repairs = 0, t.Repairs+1
		case b.Problem && !t.Struck:
			t.Strikes, t.Struck = t.Strikes+1, true
		case b.Problem:
		default:
			t.Strikes, t.Repairs = 0, 0
		}
		t.close(i, Reply{Text: b.Text, Trust: b.Trust}, seq)
	})
}

// intend binds an intent to its call; the voice's opens a post, or marks a new
// attempt of one.
func (s Strands) intend(id StrandID, b ToolIntent) Strands {
	bind := func(c *OpenCall) { c.Intent, c.Until = &b, time.Time{} } // a deferred effect is under way again
	if _, _, _, open := s.openCall(id, b.Effect); open || id != Voice {
		return s.updateCall(id, b.Effect, bind)
	}
	return s.talk(Voice, voice, func(t *Talk) { t.Open = push(t.Open, OpenCall{Effect: b.Effect, Intent: &b}) })
}

// closePost takes a post off the open ones.
func (s Strands) closePost(effect EffectID) Strands {
	return s.talk(Voice, voice, func(t *Talk) {
		t.Open = slices.DeleteFunc(slices.Clone(t.Open), func(c OpenCall) bool { return c.Effect == effect })
	})
}

// tell says something in a strand's conversation for one purpose.
func (s Strands) tell(id StrandID, p llm.Purpose, n Note) Strands {
	return s.talk(id, p, func(t *Talk) {
		if len(t.Open) > 0 {
			t.Held = push(t.Held, Entry{Note: &n})
			return
		}
		t.Entries = t.Entries.Push(Entry{Note: &n})
	})
}

// end forgets a strand's conversations: its task's outputs are what counts from
// now on, and a fold must not grow with everything ever said.
func (s Strands) end(id StrandID) Strands {
	if st, ok := s.Get(id); ok {
		work := st.Talks.Of(llm.Work).Entries
		return s.with(id, Strand{Calls: st.Calls, Provenance: st.Provenance.with(work, work.Len()), Ended: true})
	}
	return s
}

// endAll ends every strand but the voice, which has the report to post.
func (s Strands) endAll() Strands {
	for id := range s.All() {
		if id != Voice {
			s = s.end(id)
		}
	}
	return s
}

// Wakeful is a wake-up at once for every strand that has not ended. Facts that
// may concern any of them are committed with it.
func (s Strands) Wakeful() map[StrandID]time.Time {
	wake := map[StrandID]time.Time{Main: AtOnce}
	for id, st := range s.All() {
		if !st.Ended {
			wake[id] = AtOnce
		}
	}
	return wake
}

// retryNow makes every strand that waits for the model's endpoint ask at once,
// and count its patience anew.
func (s Strands) retryNow() Strands {
	for id, st := range s.All() {
		if st.Retry.Tries > 0 {
			s = s.change(id, func(st *Strand) { st.Retry = Retry{} })
		}
	}
	return s
}

// NextRetry is the first of the strands' retries that are waited for; false:
// nobody waits for the model's endpoint.
func (s Strands) NextRetry() (first Retry, waits bool) {
	for _, st := range s.All() {
		if st.Deferred() && (!waits || st.Retry.At.Before(first.At)) {
			first, waits = st.Retry, true
		}
	}
	return first, waits
}

// Lost is what a new holder of the strand's lease journals first: a model call
// that was under way when the last holder vanished counts as spent.
func (s Strands) Lost(id StrandID) []Event {
	a := s.Of(id).Call
	if a == nil {
		return nil
	}
	return []Event{{Strand: id, Body: ModelAnswered{
		Call: a.Call, Purpose: a.Purpose, Model: a.Model, PromptHash: a.PromptHash,
		Cost: a.Reserve, Prompt: a.ReserveTokens, Lost: true,
	}}}
}
