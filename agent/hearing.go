package agent

// This file understands people's words: which are still unread, what the model
// said of them, and what follows from it. Nothing is decided by what was only
// inferred; it is proposed.

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Hearing is what people said that is not understood yet, and what they are told
// of what was.
type Hearing struct {
	Unread []Words `json:"unread,omitempty"` // in the order of the journal
	// Listening are the words that the model was asked about last, by number; 0
	// where they are understood.
	Listening []uint64 `json:"listening,omitempty"`
	Told      []Told   `json:"told,omitempty"`
	// Deaf says that no model could tell what the newest words meant.
	Deaf bool `json:"deaf,omitempty"`
}

// Words are a person's, with the number and the stamp of their event.
type Words struct {
	PersonSaid
	Seq uint64    `json:"seq"`
	At  time.Time `json:"at"`
	// Question says that they are one, which is still to be answered.
	Question bool `json:"question,omitempty"`
}

// Told is what a person is told about their words.
type Told struct {
	Understood
	By    string `json:"by"`
	Words string `json:"words"` // their beginning
	Where string `json:"where,omitempty"`
}

// Bounds of what is heard.
const (
	maxUnread   = 50  // words that wait to be understood; later ones are steering
	maxTogether = 5   // that the model is asked about in one call
	maxTold     = 100 // of a run, the newest
	maxQuote    = 300 // characters
)

func (h Hearing) size() int {
	n := 0
	for _, w := range h.Unread {
		n += partBytes + len(w.Text)
	}
	for _, t := range h.Told {
		n += partBytes + len(t.Text) + len(t.Words)
	}
	return n
}

// Asks reports whether the words are a question that is to be answered, or look
// like one.
func (w Words) Asks() bool {
	end := strings.TrimRightFunc(w.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return w.Trusted && (w.Question || strings.ContainsAny(w.Text[len(end):], "?？؟"))
}

// Next are the words that the model is asked about next: a question alone, as it
// is answered at once, anything else together with what was said after it.
func (h Hearing) Next() []Words {
	var list []Words
	for i, w := range h.Unread {
		if i == 0 && w.Asks() {
			return h.Unread[:1]
		}
		if len(list) == maxTogether || w.Asks() {
			break
		}
		list = append(list, w)
	}
	return list
}

// listen notes what the model is asked about, in a conversation of its own.
func listen(r Run) Run {
	r.Listening = nil
	for _, w := range r.Hearing.Next() {
		r.Listening = append(r.Listening, w.Seq)
	}
	r.Strands = r.Strands.change(Hear, func(s *Strand) { s.Talks = s.Talks.without(llm.Hear) })
	return r
}

// Unanswered are the words that the model was asked about and said nothing of.
func (h Hearing) Unanswered() []Words {
	var list []Words
	for _, w := range h.Unread {
		if slices.Contains(h.Listening, w.Seq) {
			list = append(list, w)
		}
	}
	return list
}

// answeredBy forgets what the model was asked where nobody knows its answer.
func (h Hearing) answeredBy(b ModelAnswered) Hearing {
	if b.Lost {
		h.Listening = nil
	}
	return h
}

// takeWords takes in a person's words: at once, or to be understood.
func takeWords(r Run, e Event, b PersonSaid) Run {
	r.Files = given(r.Files, b.Files, b.By)
	if b.Unread == nil || r.Ended != nil || len(r.Unread) >= maxUnread {
		return r.note(Note{By: b.By, Text: b.Text, Trusted: b.Trusted, Message: b.Message, Author: b.Author})
	}
	r.Unread = slices.DeleteFunc(slices.Clone(r.Unread), func(w Words) bool { return w.Same(b) })
	if b.Text != "" { // else it was taken back
		r.Unread = append(r.Unread, Words{PersonSaid: b, Seq: e.Seq, At: e.At})
	}
	if known := r.Strands.Has(Hear); !known {
		r.Strands = r.Strands.with(Hear, Strand{})
	}
	return r
}

// Same reports whether newer words are of the same message.
func (w Words) Same(b PersonSaid) bool {
	return b.Unread != nil && w.Message != "" && w.Message == b.Message && w.By == b.By
}

// understand takes in what words mean. Events of their own follow it where they
// control the run or answer a question.
func understand(r Run, b Understood) Run {
	i := slices.IndexFunc(r.Unread, func(w Words) bool { return w.Seq == b.Said })
	if i < 0 {
		return r
	}
	w := r.Unread[i]
	r.Unread = slices.Clone(r.Unread)
	if b.Later {
		r.Unread[i].Question = true
	} else {
		r.Unread = slices.Delete(r.Unread, i, i+1)
	}
	r.Listening = slices.Clone(r.Listening)
	for i, seq := range r.Listening { // the others keep their places, by which the model names them
		if seq == b.Said {
			r.Listening[i] = 0
		}
	}
	if len(r.Unanswered()) == 0 { // the next question is a conversation of its own
		r.Listening = nil
		r.Strands = r.Strands.change(Hear, func(s *Strand) { s.Talks, s.Error = s.Talks.without(llm.Hear), "" })
	}
	if b.tells(r.Deaf) {
		r.Told = push(r.Told[max(0, len(r.Told)+1-maxTold):], Told{b, w.By, format.LineStart(w.Text, maxQuote), w.Unread.Where})
	}
	r.Deaf = b.Unable != ""
	if b.Noted {
		r = r.note(Note{By: w.By, Text: w.Text, Trusted: b.Trusted, Message: w.Message, Author: w.Author})
	}
	return r
}

// tells reports whether people are told in words. That no model can be asked is
// told once, until one could.
func (b Understood) tells(deaf bool) bool {
	switch {
	case b.Later:
		return false
	case b.Unable != "":
		return !deaf
	}
	return b.Decision != "" || b.Meaning == MeansStop || b.Meaning == MeansQuestion || b.Meaning == MeansSchedule && !b.Noted
}

// Open reports whether what was told still offers something to press.
func (t Told) Open(r Run) bool {
	switch {
	case r.Ended != nil || t.Unable != "":
		return false
	case t.Decision != "":
		return r.Checks[t.Of].Open()
	}
	return t.Meaning == MeansStop && r.Paused != "" && r.Cancelled == nil
}

// Offers reports whether what was told once had something to press.
func (t Told) Offers() bool { return t.Unable == "" && (t.Decision != "" || t.Meaning == MeansStop) }

// Heard is what was told about the words of an event.
func (h Hearing) Heard(said uint64) (t Told, known bool) {
	i := slices.IndexFunc(h.Told, func(t Told) bool { return t.Said == said })
	if i < 0 {
		return t, false
	}
	return h.Told[i], true
}

// Means is what follows from words that were understood, as far as their author
// may: steers says whether that is one of those who steer the run. Nothing is
// decided by what was only inferred.
func Means(r Run, w Words, b Understood, steers bool) []Event {
	b.Said, b.Trusted = w.Seq, steers
	at := func(s StrandID, body Body) Event { return Event{Strand: s, Body: body} }
	of, decision := proposal(r, w, b, steers)
	switch {
	case decision != "":
		b.Of, b.Decision = of, decision
	case !steers:
		b.Noted, b.Meaning, b.Text = true, MeansSteering, ""
	case b.Meaning == MeansQuestion:
		return []Event{at(Hear, b)}
	case b.Meaning == MeansStop:
		b.Noted = true
		stop := RunControlled{Word: WordPause, By: w.By, Reason: "understood from: " + format.LineStart(w.Text, maxReason)}
		return []Event{at(Hear, b), at(Main, stop)}
	case b.Meaning == MeansGoOn && (r.Paused != "" || r.Refused != ""):
		return []Event{at(Hear, b), at(Main, RunControlled{Word: WordResume, By: w.By})}
	case answersOne(r, w):
		a := w.Unread.Answer
		return []Event{at(Hear, b), at(r.Checks[a.ID].Strand, CheckpointDecided{ID: a.ID, Decision: a.Decision, By: w.By, Text: w.Text, Answers: a.Answers})}
	case b.Meaning == MeansSchedule: // for later: the work at hand is left alone
	default:
		b.Noted = true
	}
	return []Event{at(Hear, b)}
}

// Orders is who orders something for later by the words, false: they may not.
func (w Words) Orders(r Run) (o Ordered, may bool) {
	return Ordered{By: w.By, Where: cmp.Or(w.Unread.Where, r.Thread()), Direct: w.Unread.Direct, Zone: w.Unread.Zone, At: w.At}, w.Unread.Zone != ""
}

// answersOne reports whether the words answer a question, where they mean nothing
// else: it is still open.
func answersOne(r Run, w Words) bool {
	a := w.Unread.Answer
	if a == nil {
		return false
	}
	c, known := r.Checks[a.ID]
	return known && c.Open()
}

// proposal is the decision that the words seem to mean, empty: none. Of several
// questions it is the one that the model named, else the oldest.
func proposal(r Run, w Words, b Understood, steers bool) (of CheckpointID, decision string) {
	answers := answersOne(r, w) && (b.Of == "" || b.Of == w.Unread.Answer.ID)
	resumes := b.Meaning == MeansGoOn && steers && (r.Paused != "" || r.Refused != "")
	if b.Unable != "" || answers || resumes {
		return "", ""
	}
	named := slices.Contains(w.Unread.Before, b.Of)
	for _, id := range w.Unread.Before {
		c, known := r.Checks[id]
		if !known || !c.Open() || named && id != b.Of {
			continue
		}
		if word := c.meant(b.Meaning, w.Text); word != "" {
			return id, word
		}
	}
	return "", ""
}

var percent = regexp.MustCompile(`(\d{1,4})\s?(?:%|per ?cent|prozent|pour ?cent|por ciento)`)

// meant is the decision of the question that the words with the meaning stand
// for, empty: none.
func (c Checkpoint) meant(m Meaning, text string) string {
	offered := func(word string) string {
		if slices.Contains(c.Choices, word) {
			return word
		}
		return ""
	}
	asksLeave := c.Ask == CheckApproval || c.Ask == CheckPlan
	switch {
	case (m == MeansConsent || m == MeansGoOn) && asksLeave:
		return offered(DecideApprove)
	case m == MeansRefusal && asksLeave:
		return DecideDeny
	case c.Ask != CheckBudget:
		return ""
	case m == MeansRefusal:
		return offered(DecideFinish)
	case m == MeansExtension || m == MeansConsent || m == MeansGoOn:
		return meantRaise(offered(DecideMore25), text)
	}
	return ""
}

// meantRaise is the raise of a budget that the words name, else the usual one,
// which is empty where none is offered.
func meantRaise(usual, text string) string {
	if usual == "" {
		return ""
	}
	if n := percent.FindStringSubmatch(strings.ToLower(text)); n != nil && Raise("+"+n[1]+" %") > 0 {
		return "+" + n[1] + " %"
	}
	return usual
}

// Why words were not understood, in words for people.
const (
	unheardAway    = "the model does not answer"
	unheardUnclear = "the model gave no usable answer"
	unheardBudget  = "the budget is used up"
)

// Misheard takes the words that the model was asked about, or else all of them,
// for what they are without a model.
func Misheard(r Run, why string) Decide {
	words := r.Unanswered()
	if len(words) == 0 {
		words = r.Unread
	}
	d := Decide{Wake: r.Strands.Wakeful()}
	for _, w := range words {
		b := Understood{Meaning: MeansSteering, Unable: why}
		if w.Question {
			b.Meaning = MeansQuestion
		}
		d.Events = append(d.Events, Means(r, w, b, w.Trusted)...)
	}
	return d
}

// spoken are words by which people decide about a run or control it, beside those
// of decisions; what they mean is never up to a model.
var spoken = []string{"always in this run", "approved", "denied", "pause", "stop", "resume", "status", "help", "other"}

// OwnChoices are the choices that a model gives, renamed where one is a word by which
// people decide something else: nobody's "approve" shall mean what a model likes.
func OwnChoices(list []string) []string {
	own := slices.Clone(list)
	for i, choice := range own {
		word := strings.ToLower(strings.TrimFunc(choice, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '+' && r != '%' }))
		if slices.Contains(spoken, word) || slices.Contains(decisionWords, word) || Raise(word) > 0 {
			own[i] = "The choice “" + strings.TrimSpace(choice) + "”"
		}
	}
	return own
}

// decisionWords are the words of decisions.
var decisionWords = []string{
	DecideApprove, DecideDeny, DecideEdit, DecideAlways, DecideCancel, DecideAnswer, DecideForMe, DecideMore25, DecideMore100,
	DecideFinish, DecideRetry, DecideRepeat, DecideSkip, DecideDone, DecideExpired,
}

// Weighty reports whether one typed word is too little for the decision: what
// would follow leaves the workspace, deletes, runs a program, or may happen twice.
// The call of a question of older builds is not known to be less.
func (c Checkpoint) Weighty(decision string) bool {
	switch c.Ask {
	case CheckUncertain:
		return decision == DecideRepeat
	case CheckApproval:
		return !c.Review && !slices.Contains([]Class{ClassRead, ClassCreate, ClassWrite}, c.Class)
	case CheckPlan, CheckClarify, CheckBudget, CheckStuck:
	}
	return false
}
