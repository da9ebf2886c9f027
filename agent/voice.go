package agent

import (
	"cmp"
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
	// At is when the message was made, by its platform's clock, on which people's
	// words are stamped, too; zero: an older build made it.
	At time.Time `json:"at,omitzero"`
	// Path is where an attachment lies in the run's folder.
	Path string `json:"path,omitempty"`
	// Again is set where the post's place did not take it and may yet do so: it is
	// tried there from then on. Without a message it is not made until then; with
	// one it was told elsewhere meanwhile, and the post of KeyAgain is tried.
	Again time.Time `json:"again,omitzero"`
	// Tries counts how often in a row its place did not take it.
	Tries int `json:"tries,omitempty"`
}

// pending reports whether the post is not made, and is to be.
func (s Shown) pending() bool { return s.Message == "" && !s.Again.IsZero() }

// stands reports whether the post is the message, or in the thread or the
// channel ("platform:workspace:channel:").
func (s Shown) stands(in string) bool {
	return s.Message == in || s.Thread == in || strings.HasSuffix(in, ":") && strings.HasPrefix(s.Thread, in)
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

// voice is the purpose of the voice strand's talk. It is never sent to a model:
// the talk only holds the open posts.
const voice llm.Purpose = "voice"

// postTool is the tool's name in intents of the voice strand.
const postTool = "post"

// Intent is a post as it is journalled.
func (p Post) Intent(deadline time.Time) ToolIntent {
	args, _ := format.JSON(p) // strings always encode
	return ToolIntent{Effect: p.Effect(), Tool: postTool, Arguments: args, Repeat: p.Repeat(), Deadline: deadline}
}

// Posted is what people were shown of a run.
type Posted struct {
	Shown   map[string]Shown `json:"shown,omitempty"`   // posts that were made, by key
	Watched []string         `json:"watched,omitempty"` // further places that show the run
	// Unreported are those of them that get no report: somebody only asked there
	// where the run stands. Further are places that show it already and show one
	// more card for the same reason.
	Unreported []string `json:"unreported,omitempty"`
	Further    []string `json:"further,omitempty"`
}

// Card is the message of the card, empty if there is none.
func (p Posted) Card() string { return p.Shown[KeyCard].Message }

func (p Posted) posted(post Post) bool {
	s, is := p.Shown[post.Key]
	return is && !s.pending()
}

// tryAt is when a post is tried whose place did not take it, zero for all others.
func (p Posted) tryAt(post Post) time.Time {
	first, _ := post.repeats()
	return cmp.Or(p.Shown[post.Key].Again, p.Shown[first].Again)
}

// placed takes in that the bot may post at a place again: what waits for that is
// tried at once. Or that a place is gone: open questions that stood there are
// asked again.
func (p Posted) placed(b RunControlled, at time.Time) Posted {
	for key, s := range p.Shown {
		switch {
		case b.Place == "":
			return p
		case b.Gone && strings.HasPrefix(key, keyAsk) && s.Message != "" && s.stands(b.Place):
			s.Again = at
		case !b.Gone && s.Again.After(at):
			s.Again, s.Tries = at, 0
		default:
			continue
		}
		p.Shown = with(p.Shown, key, s)
	}
	return p
}

// watch adds a place, unless it is one of these already.
func (p Posted) watch(where string, known ...string) Posted {
	if where != "" && !slices.Contains(known, where) && !slices.Contains(p.Watched, where) {
		p.Watched = push(p.Watched, where)
	}
	return p
}

// Tick is one turn of a schedule: it begins a run.
type Tick struct {
	Schedule string    `json:"schedule"` // its name
	At       time.Time `json:"at"`       // when it was due
	// Report says that the run is a report and nothing else: its journal has the
	// report from the beginning, and its voice posts the headline where the run
	// answers and the body in the thread under it.
	Report bool `json:"report,omitempty"`
	// Raise are the principals who are told where the report cannot be posted.
	Raise []string `json:"raise,omitempty"`
}

// maxUploads bounds the artifacts that a report brings along; the others are
// named in it.
const maxUploads = 10

// Visible reports whether people see the event in a run's card or posts.
func Visible(b Body) bool {
	switch b.Kind() {
	case "run.watched", "plan.accepted", "task.started", "task.ended", "checkpoint.opened", "checkpoint.decided", "checkpoint.voted",
		"budget.notice", "finding", "report", "run.ended", "run.controlled", "said.understood":
		return true
	}
	a, answered := b.(ModelAnswered)
	return answered && (a.Refused && a.Purpose != llm.CheckIn && a.Purpose != llm.Hear || !a.RetryAt.IsZero()) // the run pauses, or waits
}

// IsWord reports whether the event may end what a strand is at: somebody
// controls the run or decides a question.
func IsWord(b Body) bool {
	k := b.Kind()
	return k == RunControlled{}.Kind() || k == CheckpointDecided{}.Kind()
}

// Put reports whether the question was put before people in the run's thread:
// its post was made or is on its way.
func (r Run) Put(c Checkpoint) bool {
	ask := Post{Key: KeyAsk(c.ID)}
	return r.posted(ask) || slices.ContainsFunc(r.Talk(Voice).Open, func(o OpenCall) bool { return o.Effect == ask.Effect() })
}

// PutAt is when the question was put before people in the run's thread, zero where
// it is not known to stand there.
func (r Run) PutAt(c Checkpoint) time.Time {
	if s := r.Shown[KeyAsk(c.ID)]; s.Message != "" {
		return s.At
	}
	return time.Time{}
}

// Cards are the messages that show the run's card, by the keys of their posts.
func Cards(r Run) map[string]string {
	if r.Scheduled() {
		return nil // a headline stays as it was posted
	}
	cards := map[string]string{KeyCard: r.Card()}
	for i := range r.Watched {
		cards[KeyWatch(i, KeyCard)] = r.Shown[KeyWatch(i, KeyCard)].Message
	}
	for i := range r.Further {
		cards[KeyStatus(i)] = r.Shown[KeyStatus(i)].Message
	}
	maps.DeleteFunc(cards, func(_, message string) bool { return message == "" })
	return cards
}

// Undelivered is why a scheduled report could not be posted, empty if it could
// or is on its way.
func Undelivered(r Run) string {
	if !r.Scheduled() {
		return ""
	}
	return cmp.Or(r.Shown[KeyCard].Failed, r.Shown[KeyReport].Failed)
}

// Delivered reports whether a scheduled report was posted, head and body.
func Delivered(r Run) bool {
	return r.Scheduled() && r.Shown[KeyCard].Message != "" && r.Shown[KeyReport].Message != ""
}

// reports says whether the run has a report to post: a mere answer stands in the
// card.
func reports(r Run) bool { return r.Ended != nil && r.Report != nil && !r.Replied() }

// attaching reports whether files that came with the goal are still on their way.
func attaching(r Run) bool {
	for i := range r.Brief.Files {
		if !r.posted(Post{Key: KeyFile(i)}) {
			return true
		}
	}
	return false
}

// fileOf is the number of the file that a post fetched.
func fileOf(key string) (i int, is bool) {
	number, is := strings.CutPrefix(key, keyFile)
	i, err := strconv.Atoi(number)
	return i, is && err == nil && i >= 0
}

// duePost is the next post to make; else remind is when a reminder falls due.
func duePost(r Run, now time.Time) (p Post, remind time.Time, due bool) {
	first := func(list ...[]Post) bool { // of the posts that are not made yet
		for _, p = range slices.Concat(list...) {
			if at := r.tryAt(p); at.After(now) {
				if !r.posted(p) && (remind.IsZero() || at.Before(remind)) {
					remind = at
				}
			} else if !r.posted(p) {
				return true
			}
		}
		p = Post{}
		return false
	}
	switch {
	case first(closings(r), attachments(r), elsewhere(r)): // nobody shall press what is decided
		return p, remind, true
	case r.Brief.ReplyTo == "": // a run of the terminal that is watched in chat
		return Post{}, remind, false
	case r.Scheduled():
		due = r.Report != nil && first(scheduledPosts(r))
		return p, remind, due
	case first([]Post{{Key: KeyCard, Kind: PostCard}}):
		return p, remind, true
	}
	p, remind, due = dueQuestion(r, now, remind)
	if due {
		return p, remind, true
	}
	due = first(heard(r), reporting(r), again(r))
	return p, remind, due
}

// dueQuestion is the next post about a question; else when a reminder of one falls
// due, or the earlier time that is known.
func dueQuestion(r Run, now, remind time.Time) (Post, time.Time, bool) {
	for _, id := range r.Asked {
		p, at, due := dueAbout(r, r.Checks[id])
		if due && !at.After(now) {
			return p, remind, true
		}
		if !at.IsZero() && (remind.IsZero() || at.Before(remind)) {
			remind = at
		}
	}
	return Post{}, remind, false
}

// reporting are the posts of the run's report.
func reporting(r Run) []Post {
	if !reports(r) {
		return nil
	}
	return append(uploads(r), Post{Key: KeyReport, Kind: PostReport})
}

// AsksAt reports whether an open question stands at the place: a message, a
// thread, or a channel ("platform:workspace:channel:").
func AsksAt(r Run, place string) bool {
	return r.Ended == nil && slices.ContainsFunc(r.OpenCheckpoints(), func(c Checkpoint) bool {
		s := r.Shown[KeyAsk(c.ID)]
		return s.Message != "" && s.stands(place)
	})
}

// again are the posts of what was told elsewhere, at the place where it belongs.
func again(r Run) []Post {
	list := reporting(r)
	for _, id := range r.Asked {
		if r.Checks[id].Open() && r.Ended == nil {
			list = append(list, Post{Key: KeyAsk(id), Kind: PostCheckpoint, About: string(id)})
		}
	}
	list = slices.DeleteFunc(list, func(p Post) bool { s := r.Shown[p.Key]; return s.Message == "" || s.Again.IsZero() })
	for i := range list {
		list[i].Key = KeyAgain(list[i].Key)
	}
	return list
}

// attachments fetch the files that people gave.
func attachments(r Run) []Post {
	var list []Post
	for i, f := range r.Files {
		if f.ID != "" {
			list = append(list, Post{Key: KeyFile(i), Kind: PostAttach, About: strconv.Itoa(i)})
		}
	}
	return list
}

// elsewhere are the posts to places that watch the run: its card there, and its
// report; and further cards where somebody asked for one.
func elsewhere(r Run) []Post {
	var list []Post
	for i, where := range r.Watched {
		card := Post{Key: KeyWatch(i, KeyCard), Kind: PostCard, To: where}
		list = append(list, card)
		if thread := r.Shown[card.Key].Thread; thread != "" && reports(r) && !slices.Contains(r.Unreported, where) {
			list = append(list, Post{Key: KeyWatch(i, KeyReport), Kind: PostReport, To: thread})
		}
	}
	for i, where := range r.Further {
		if r.Ended == nil {
			list = append(list, Post{Key: KeyStatus(i), Kind: PostCard, To: where})
		}
	}
	return list
}

// heard are the posts about what people's words were taken for, and the edits
// that take their buttons away.
func heard(r Run) []Post {
	var list []Post
	for _, t := range r.Told {
		key, said := KeyHeard(t.Said), strconv.FormatUint(t.Said, 10)
		shown, made := r.Shown[key]
		switch {
		case !made && r.Ended == nil:
			list = append(list, Post{Key: key, Kind: PostAnswer, About: said, To: notOwn(r, t.Where)})
		case t.Offers() && shown.Message != "" && !t.Open(r):
			list = append(list, Post{Key: keyClose + key, Kind: PostClose, About: key})
		}
	}
	return list
}

// notOwn is a thread that is not the run's own, empty if it is.
func notOwn(r Run, thread string) string {
	if thread == r.Thread() {
		return ""
	}
	return thread
}

// HeardIn is the number of the event whose words a post, or the post that it
// closes, is about; false: it is about something else.
func (p Post) HeardIn() (said uint64, is bool) {
	number, is := strings.CutPrefix(strings.TrimPrefix(p.Key, keyClose), keyHeard)
	said, err := strconv.ParseUint(number, 10, 64)
	return said, is && err == nil
}

// uploads are the artifacts of the report to send along.
func uploads(r Run) []Post {
	var list []Post
	for i, file := range r.Report.Artifacts[:min(len(r.Report.Artifacts), maxUploads)] {
		list = append(list, Post{Key: KeyUpload(i), Kind: PostUpload, About: file})
	}
	return list
}

// scheduledPosts are the posts of a scheduled report: the headline under the card's
// key, the body under the report's, the files; and where one of the first two
// has no place to go to, a word to everybody who is to know.
func scheduledPosts(r Run) []Post {
	head, body := Post{Key: KeyCard, Kind: PostScheduled}, Post{Key: KeyReport, Kind: PostScheduled}
	if Undelivered(r) == "" {
		return append([]Post{head, body}, uploads(r)...)
	}
	list := []Post{head}
	for i, who := range r.Brief.Tick.Raise {
		list = append(list, Post{Key: KeyRaise(i), Kind: PostScheduled, To: who})
	}
	return list
}

// dueAbout is the next post about an open checkpoint, and when it is due: the
// question, the reminder at half its time.
func dueAbout(r Run, c Checkpoint) (p Post, at time.Time, due bool) {
	id := string(c.ID)
	ask := Post{Key: KeyAsk(c.ID), Kind: PostCheckpoint, About: id}
	if !c.Open() || r.Ended != nil {
		return p, at, false
	}
	if !r.posted(ask) {
		return ask, r.tryAt(ask), true
	}
	p = Post{Key: KeyRemind(c.ID), Kind: PostCheckpoint, About: id}
	if r.Shown[ask.Key].Message == "" || c.Expires.IsZero() || r.posted(p) {
		return Post{}, at, false
	}
	at = c.Opened.Add(c.Expires.Sub(c.Opened) / 2)
	if retry := r.tryAt(p); retry.After(at) {
		at = retry
	}
	return p, at, true
}

// closings take the buttons from the questions that are not open any more.
func closings(r Run) []Post {
	var list []Post
	for _, id := range r.Asked {
		if over := !r.Checks[id].Open() || r.Ended != nil; over && r.Shown[KeyAsk(id)].Message != "" {
			list = append(list, Post{Key: KeyClose(id), Kind: PostClose, About: string(id)})
		}
	}
	return list
}
