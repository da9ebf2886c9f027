package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// PostKind says what the voice does on a platform. The kinds card, checkpoint,
// report, answer and scheduled are messages, and words that others rely on.
type PostKind string

// The kinds of posts. Attach fetches a person's file into the workspace,
// upload sends an artifact, close edits a decided checkpoint; a reminder is a
// checkpoint's second message.
const (
	PostCard       PostKind = "card"
	PostCheckpoint PostKind = "checkpoint"
	PostReport     PostKind = "report"
	PostAnswer     PostKind = "answer"
	PostScheduled  PostKind = "scheduled"
	PostAttach     PostKind = "attach"
	PostUpload     PostKind = "upload"
	PostClose      PostKind = "close"
)

// Post is one thing that the voice does once. It is the arguments of an intent
// on the voice strand.
type Post struct {
	Key  string   `json:"key"` // unique within the run
	Kind PostKind `json:"kind"`
	// About is the checkpoint's id, the artifact's path or the attachment's
	// number in Run.Files.
	About string `json:"about,omitempty"`
	// To is the place of a post that does not go to the run's own thread.
	To string `json:"to,omitempty"`
}

// Repeat says what doing it twice would mean.
func (p Post) Repeat() Repeat {
	if p.Kind == PostClose || p.Kind == PostAttach {
		return RepeatIdempotent
	}
	return RepeatProbeable
}

// PostOf reads an intent of the voice strand.
func PostOf(in ToolIntent) (Post, error) {
	var p Post
	err := json.Unmarshal(in.Arguments, &p)
	return p, err
}

// Shown is what came of a post: where it went, as addresses
// ("platform:workspace:channel:id"), or why it did not. It is the JSON text of
// an outcome on the voice strand.
type Shown struct {
	Message string `json:"message,omitempty"`
	Thread  string `json:"thread,omitempty"`
	Failed  string `json:"failed,omitempty"`
	// Path is where an attachment lies in the run's folder.
	Path string `json:"path,omitempty"`
}

// Text is the outcome's text.
func (s Shown) Text() string {
	b, _ := format.JSON(s) // strings always encode
	return string(b)
}

// Attachment is a file that a person gave, at a platform.
type Attachment struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes
	URL  string `json:"url,omitempty"`
	By   string `json:"by,omitempty"`
}

// Visible reports whether people see the event in a run's card or posts.
func Visible(b Body) bool {
	switch b.Kind() {
	case "run.watched", "plan.accepted", "task.started", "task.ended", "checkpoint.opened", "checkpoint.decided", "checkpoint.voted",
		"budget.notice", "finding", "report", "run.ended", "run.controlled":
		return true
	}
	a, answered := b.(ModelAnswered)
	return answered && a.Refused && a.Purpose != llm.CheckIn // the run pauses
}

// voice is the purpose of the voice strand's talk. It is never sent to a model:
// the talk only holds the open posts.
const voice llm.Purpose = "voice"

// postTool is the tool's name in intents of the voice strand.
const postTool = "post"

// maxUploads bounds the artifacts that a report brings along; the others are
// named in it.
const maxUploads = 10

// Speak journals the intent of a post and makes it.
type Speak struct{ Post Post }

// Show brings the card up to date. It is the last step of a move: nothing is
// journalled, and the strand sleeps until the voice wants to look again.
type Show struct{}

func (Speak) step() {}
func (Show) step()  {}

// Thread is the thread that the run is talked about in, empty if none is known
// (yet): where the run was started, or the one that its card opened.
func (r Run) Thread() string {
	if s := r.Shown[KeyCard]; s.Thread != "" {
		return s.Thread
	}
	if strings.HasSuffix(r.Brief.ReplyTo, ":") {
		return ""
	}
	return r.Brief.ReplyTo
}

// Card is the message of the card, empty if there is none.
func (r Run) Card() string { return r.Shown[KeyCard].Message }

// Replied reports whether the run was a mere answer: its card is the answer.
func (r Run) Replied() bool {
	return r.Ended != nil && r.Report != nil && r.Plans == 0 && r.Ended.State == RunDone && !r.Scheduled()
}

// nextVoice makes the posts that are due, one after the other, and then looks
// after the card.
func (r Run) nextVoice() Move {
	st, speaks := r.Strands[Voice]
	if !speaks {
		return Move{}
	}
	if m, busy := r.calls(Voice, st); busy {
		return m
	}
	p, remind, due := r.duePost(st.Ticked)
	if due {
		return steps(Speak{p})
	}
	return Move{Steps: []Step{Show{}}, Wake: remind}
}

// duePost is the next post to make; else remind is when a reminder falls due.
func (r Run) duePost(now time.Time) (p Post, remind time.Time, due bool) {
	for i, f := range r.Files {
		if p := (Post{Key: KeyFile(i), Kind: PostAttach, About: strconv.Itoa(i)}); !r.posted(p) && f.ID != "" {
			return p, remind, true
		}
	}
	if p, due := r.dueElsewhere(); due {
		return p, remind, true
	}
	if r.Brief.ReplyTo == "" {
		return Post{}, remind, false // a run of the terminal that is watched in chat
	}
	if r.Scheduled() {
		p, due := r.dueScheduled()
		return p, remind, due
	}
	if p := (Post{Key: KeyCard, Kind: PostCard}); !r.posted(p) {
		return p, remind, true
	}
	for _, id := range r.Asked {
		p, at, due := r.dueAbout(r.Checks[id], now)
		if due {
			return p, remind, true
		}
		if !at.IsZero() && (remind.IsZero() || at.Before(remind)) {
			remind = at
		}
	}
	if !r.reports() {
		return Post{}, remind, false
	}
	if p, due := r.dueUpload(); due {
		return p, remind, true
	}
	p = Post{Key: KeyReport, Kind: PostReport}
	return p, remind, !r.posted(p)
}

// reports says whether the run has a report to post: a mere answer stands in the
// card.
func (r Run) reports() bool { return r.Ended != nil && r.Report != nil && !r.Replied() }

// dueElsewhere is the next post to a place that watches the run: its card
// there, and its report.
func (r Run) dueElsewhere() (p Post, due bool) {
	for i, where := range r.Watched {
		card := Post{Key: KeyWatch(i, KeyCard), Kind: PostCard, To: where}
		if !r.posted(card) {
			return card, true
		}
		thread := r.Shown[card.Key].Thread
		if report := (Post{Key: KeyWatch(i, KeyReport), Kind: PostReport, To: thread}); r.reports() && thread != "" && !r.posted(report) {
			return report, true
		}
	}
	return Post{}, false
}

// Cards are the messages that show the run's card, by the keys of their posts.
func (r Run) Cards() map[string]string {
	if r.Scheduled() {
		return nil // a headline stays as it was posted
	}
	cards := map[string]string{KeyCard: r.Card()}
	for i := range r.Watched {
		cards[KeyWatch(i, KeyCard)] = r.Shown[KeyWatch(i, KeyCard)].Message
	}
	maps.DeleteFunc(cards, func(_, message string) bool { return message == "" })
	return cards
}

// watch adds a place, unless the run is shown there already. A run of the
// terminal gets a voice by it.
func (r Run) watch(b RunWatched) Run {
	if b.Where == "" || b.Where == r.Thread() || b.Where == r.Brief.ReplyTo || slices.Contains(r.Watched, b.Where) {
		return r
	}
	r.Watched = push(r.Watched, b.Where)
	if _, speaks := r.Strands[Voice]; !speaks {
		r.Strands = with(r.Strands, Voice, Strand{})
	}
	return r
}

// dueAbout is the next post about a checkpoint: the question, the reminder at
// half its time, the edit that takes its buttons away.
func (r Run) dueAbout(c Checkpoint, now time.Time) (p Post, remind time.Time, due bool) {
	id := string(c.ID)
	ask := Post{Key: KeyAsk(c.ID), Kind: PostCheckpoint, About: id}
	shown := r.Shown[ask.Key]
	switch {
	case c.Open() && r.Ended == nil && !r.posted(ask):
		return ask, remind, true
	case c.Open() && r.Ended == nil && shown.Message != "" && !c.Expires.IsZero():
		again := Post{Key: KeyRemind(c.ID), Kind: PostCheckpoint, About: id}
		half := c.Opened.Add(c.Expires.Sub(c.Opened) / 2)
		if r.posted(again) {
			return p, remind, false
		}
		return again, half, !now.Before(half)
	case shown.Message != "" && (!c.Open() || r.Ended != nil):
		closing := Post{Key: KeyClose(c.ID), Kind: PostClose, About: id}
		return closing, remind, !r.posted(closing)
	}
	return p, remind, false
}

func (r Run) posted(p Post) bool {
	_, is := r.Shown[p.Key]
	return is
}

// attaching reports whether files that came with the goal are still on their way.
func (r Run) attaching() bool {
	for i := range r.Brief.Files {
		if _, is := r.Shown[keyFile+strconv.Itoa(i)]; !is {
			return true
		}
	}
	return false
}

// Intent is a post as it is journalled.
func (p Post) Intent(deadline time.Time) ToolIntent {
	args, _ := format.JSON(p) // strings always encode
	return ToolIntent{Effect: p.Effect(), Tool: postTool, Arguments: args, Repeat: p.Repeat(), Deadline: deadline}
}

// intendPost opens a post, or marks a new attempt of one.
func (r Run) intendPost(b ToolIntent) Run {
	return r.talk(Voice, voice, func(t *Talk) {
		for i := range t.Open {
			if t.Open[i].Effect == b.Effect {
				t.Open = append([]OpenCall{}, t.Open...)
				t.Open[i].Intent, t.Open[i].Until = &b, time.Time{}
				return
			}
		}
		t.Open = push(t.Open, OpenCall{Effect: b.Effect, Intent: &b})
	})
}

// spoke closes a post. The first outcome counts.
func (r Run) spoke(b ToolOutcome) Run {
	key := b.Effect.postKey()
	_, speaks := r.Strands[Voice]
	if _, known := r.Shown[key]; known || !speaks {
		return r
	}
	var s Shown
	if err := json.Unmarshal([]byte(b.Text), &s); err != nil || b.State != OutcomeOK {
		s = Shown{Failed: b.Text}
	}
	r.Shown = with(r.Shown, key, s)
	r = r.talk(Voice, voice, func(t *Talk) {
		open := make([]OpenCall, 0, len(t.Open))
		for _, c := range t.Open {
			if c.Effect != b.Effect {
				open = append(open, c)
			}
		}
		t.Open = open
	})
	return r.attached(key, s)
}

// What a note of Deckhand's holds of others' texts, in characters.
const (
	maxFileName   = 100
	maxFileReason = 300
)

// attached tells the strands of a file that a person gave.
func (r Run) attached(key string, s Shown) Run {
	number, is := strings.CutPrefix(key, keyFile)
	i, err := strconv.Atoi(number)
	if !is || err != nil || i >= len(r.Files) {
		return r
	}
	f := r.Files[i]
	name := format.LineStart(f.Name, maxFileName)
	text := "The file " + name + " that " + f.By + " attached is in the workspace at " + s.Path + "."
	if s.Failed != "" {
		text = "The file " + name + " that " + f.By + " attached could not be fetched: " + format.LineStart(s.Failed, maxFileReason)
	}
	return r.note(Note{By: Deckhand, Text: text, Trusted: true})
}

// give adds files that a person gave.
func (r Run) give(files []Attachment, by string) Run {
	for _, f := range files {
		f.By = by
		r.Files = push(r.Files, f)
	}
	return r
}
