package agent

import (
	"encoding/json"
	"slices"
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
}

// Card is the message of the card, empty if there is none.
func (p Posted) Card() string { return p.Shown[KeyCard].Message }

func (p Posted) posted(post Post) bool {
	_, is := p.Shown[post.Key]
	return is
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
