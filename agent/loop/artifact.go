package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// artifactName is how a call's arguments name the whole of a long result that
// this conversation saw the head and the tail of.
var artifactName = regexp.MustCompile(`\$\{(artifact:([0-9a-f]{64}))\}`)

// errTooLong refuses arguments that grow beyond measure.
var errTooLong = errors.New("the arguments are too long with the artifacts in their places: name fewer, or a part of them")

// artifacts reads and writes texts that are too long for the journal.
type artifacts struct{ *turn }

// expand puts the texts of artifacts in place of their names. Intents keep
// the names: events stay small, and a content hash is as exact as the content.
func (a artifacts) expand(ctx context.Context, view *agent.Run, args json.RawMessage) (json.RawMessage, error) {
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
		if !shown(a.conversation(view), hash) {
			continue // a name that this conversation never saw stays a name
		}
		text, err := a.read(ctx, hash)
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
		return nil, fmt.Errorf("%w: %d bytes of at most %d", errTooLong, size, bounds.Arguments)
	}
	if len(values) == 0 {
		return args, nil
	}
	return plan.ExpandJSON(args, values)
}

// read reads an artifact, again and again while the store is away: the answer
// that names it is paid for and not committed yet.
func (a artifacts) read(ctx context.Context, hash string) ([]byte, error) {
	pauses := wait.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for {
		text, err := a.Blobs.Blob(ctx, a.lease.Run, hash)
		if err == nil || ctx.Err() != nil || errors.Is(err, agent.ErrNoBlob) {
			return text, err
		}
		a.Log.Warn("cannot read an artifact; trying again", "run", a.lease.Run, "err", err)
		pauses.Sleep(ctx)
	}
}

// shown reports whether a result of this conversation is the artifact.
func shown(talk agent.Talk, hash string) bool {
	for _, e := range talk.Entries.All() {
		if e.Reply != nil && e.Reply.Artifact == hash {
			return true
		}
	}
	return false
}

// keep writes an artifact, again and again while the store is away.
func (a artifacts) keep(ctx context.Context, text string) (string, error) {
	pauses := wait.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for {
		hash, err := a.Blobs.PutBlob(ctx, a.lease.Run, []byte(text))
		if err == nil || ctx.Err() != nil || errors.Is(err, agent.ErrNoRun) {
			return hash, err
		}
		a.Log.Warn("cannot keep an artifact; trying again", "run", a.lease.Run, "err", err)
		pauses.Sleep(ctx)
	}
}
