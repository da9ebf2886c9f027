// Package artifact keeps texts that are too long for the journal, and puts them
// in place of their names.
//
//	artifact.go  Keeper: kept, read, put in place; long texts shown by head and tail
package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// artifactName is how a call's arguments name the whole of a long result that
// this conversation saw the head and the tail of.
var artifactName = regexp.MustCompile(`\$\{(artifact:([0-9a-f]{64}))\}`)

// ErrTooLong refuses arguments that grow beyond measure.
var ErrTooLong = errors.New("the arguments are too long with the artifacts in their places: name fewer, or a part of them")

// Keeper reads and writes texts of a run that are too long for the journal.
type Keeper struct {
	Blobs agent.Artifacts
	Run   agent.RunID
	Log   *slog.Logger
}

// Expand puts the texts of artifacts in place of their names. Intents keep
// the names: events stay small, and a content hash is as exact as the content.
// A name that the conversation never saw stays a name.
func (a Keeper) Expand(ctx context.Context, talk agent.Talk, args json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(args, []byte("${artifact:")) {
		return args, nil
	}
	values := map[string]agent.Output{}
	size := len(args)
	for _, m := range artifactName.FindAllSubmatch(args, -1) {
		name, hash := string(m[1]), string(m[2])
		if value, known := values[name]; known {
			size += len(value.Value)
			continue
		}
		if !Shown(talk, hash) {
			continue
		}
		text, err := a.Read(ctx, hash)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(string(text))
		if err != nil {
			return nil, err
		}
		values[name] = agent.Output{Name: name, Value: value}
		size += len(value)
	}
	if size > bounds.Arguments {
		return nil, fmt.Errorf("%w: %d bytes of at most %d", ErrTooLong, size, bounds.Arguments)
	}
	if len(values) == 0 {
		return args, nil
	}
	return plan.ExpandJSON(args, values)
}

// Read reads an artifact, again and again while the store is away: the answer
// that names it is paid for and not committed yet.
func (a Keeper) Read(ctx context.Context, hash string) ([]byte, error) {
	pauses := wait.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for {
		text, err := a.Blobs.Blob(ctx, a.Run, hash)
		if err == nil || ctx.Err() != nil || errors.Is(err, agent.ErrNoBlob) {
			return text, err
		}
		a.Log.Warn("cannot read an artifact; trying again", "run", a.Run, "err", err)
		pauses.Sleep(ctx)
	}
}

// Keep writes an artifact, again and again while the store is away.
func (a Keeper) Keep(ctx context.Context, text string) (string, error) {
	pauses := wait.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for {
		hash, err := a.Blobs.PutBlob(ctx, a.Run, []byte(text))
		if err == nil || ctx.Err() != nil || errors.Is(err, agent.ErrNoRun) {
			return hash, err
		}
		a.Log.Warn("cannot keep an artifact; trying again", "run", a.Run, "err", err)
		pauses.Sleep(ctx)
	}
}

// Shown reports whether a result of this conversation is the artifact.
func Shown(talk agent.Talk, hash string) bool {
	for _, e := range talk.Entries.All() {
		if e.Reply != nil && e.Reply.Artifact == hash {
			return true
		}
	}
	return slices.Contains(talk.Artifacts, hash)
}

// Texts above MaxText bytes are kept as artifacts; the journal holds their
// head and tail.
const (
	MaxText  = 16 << 10
	headText = 8 << 10
	tailText = 4 << 10
)

// Shorten keeps a text that is too long for the journal, and returns what stands
// there in its place, with the artifact's hash; empty: the text is short enough.
func (a Keeper) Shorten(ctx context.Context, text string) (short, hash string, err error) {
	if len(text) <= MaxText {
		return text, "", nil
	}
	hash, err = a.Keep(ctx, text)
	if err != nil {
		return "", "", err
	}
	head, tail := Head(text, headText), cutRunes(text[len(text)-tailText:], false)
	return fmt.Sprintf("%s\n[… %d bytes left out; the whole text is artifact %s; ${artifact:%s} in an argument stands for it …]\n%s",
		head, len(text)-len(head)-len(tail), hash, hash, tail), hash, nil
}

// Head is a text's beginning, of so many bytes at most, without half a character.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return cutRunes(text[:most], true)
}

// cutRunes drops a character that was cut in half at the end (or the beginning).
func cutRunes(s string, atEnd bool) string {
	for range utf8.UTFMax {
		if len(s) == 0 {
			return s
		}
		if atEnd {
			if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size > 1 {
				return s
			}
			s = s[:len(s)-1]
		} else {
			if utf8.RuneStart(s[0]) {
				return s
			}
			s = s[1:]
		}
	}
	return s
}
