package redis

// Journals read and awaited.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
)

// page is how many entries are read in one reply.
const page = 500

// entry is one line of a journal.
type entry struct {
	Seq    uint64          `json:"seq"`
	At     int64           `json:"at"` // µs since 1970
	Strand agent.StrandID  `json:"strand"`
	Kind   agent.Kind      `json:"kind"`
	V      int             `json:"v"`
	Body   json.RawMessage `json:"body"`
}

// Read implements agent.Store. What is behind the journal's head is of a commit
// that broke off: the next one removes it.
func (s *Store) Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	var events []agent.Event
	for {
		lines, length, err := s.readPage(ctx, run, after)
		if errors.Is(err, agent.ErrDamaged) {
			return events, &agent.EntryError{Run: run, Seq: after + 1, Err: err}
		}
		if err != nil {
			return nil, s.explain(ctx, "read run "+string(run), err)
		}
		if length == 0 {
			return nil, fmt.Errorf("run %s: %w", run, agent.ErrNoRun)
		}
		for _, line := range lines[:min(uint64(len(lines)), length-min(after, length))] {
			after++
			e, err := decodeEntry(run, after, line)
			if err != nil {
				return events, &agent.EntryError{Run: run, Seq: after, Err: err}
			}
			events = append(events, e)
		}
		if after >= length {
			return events, nil
		}
		if len(lines) == 0 {
			return events, s.missing(ctx, run, after+1, length)
		}
	}
}

// ReadKept implements agent.Trail. A line that is not JSON is an entry without
// a kind: what it was differs from what was sealed.
func (t trail) ReadKept(ctx context.Context, run agent.RunID, after uint64, n int) ([]agent.Kept, error) {
	var kept []agent.Kept
	for len(kept) < n {
		lines, length, err := t.of.readPage(ctx, run, after)
		if err != nil {
			return kept, t.of.explain(ctx, "read run "+string(run), err)
		}
		if length == 0 {
			return nil, fmt.Errorf("run %s: %w", run, agent.ErrNoRun)
		}
		lines = lines[:min(uint64(len(lines)), length-min(after, length), uint64(n-len(kept)))]
		if len(lines) == 0 {
			break
		}
		for _, line := range lines {
			after++
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				e = entry{Seq: after, Body: json.RawMessage(line)}
			}
			kept = append(kept, agent.Kept{Seq: e.Seq, Strand: e.Strand, At: stampTime(e.At), Kind: e.Kind, Version: e.V, Body: e.Body})
		}
	}
	return kept, nil
}

// readPage reads entries after the seq, and how long the journal was right
// before. Length 0: there is no such run.
func (s *Store) readPage(ctx context.Context, run agent.RunID, after uint64) (lines []string, length uint64, err error) {
	line := s.client.Pipeline()
	head := line.HGet(ctx, s.run(run), "head")
	found := line.LRange(ctx, s.journal(run), int64(after), int64(after)+page-1)
	_, _ = line.Exec(ctx) // each command carries its own error
	if err := found.Err(); err != nil {
		return nil, 0, err
	}
	if errors.Is(head.Err(), redis.Nil) {
		return nil, 0, nil
	}
	if err := head.Err(); err != nil {
		return nil, 0, err
	}
	length, err = parseHead(head.Val())
	return found.Val(), length, err
}

// missing is the error for an entry that should be there: it is damage, unless
// the run expired while it was read.
func (s *Store) missing(ctx context.Context, run agent.RunID, seq, length uint64) error {
	there, err := s.client.Exists(ctx, s.run(run)).Result()
	switch {
	case err != nil:
		return s.explain(ctx, "read run "+string(run), err)
	case there == 0:
		return fmt.Errorf("run %s: %w", run, agent.ErrNoRun)
	}
	return &agent.EntryError{Run: run, Seq: seq, Err: fmt.Errorf("%w: it is missing, the run's head says %d", agent.ErrDamaged, length)}
}

// decodeEntry reads a line that must be the entry with the seq.
func decodeEntry(run agent.RunID, seq uint64, text string) (agent.Event, error) {
	var l entry
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return agent.Event{}, fmt.Errorf("%w: %w", agent.ErrDamaged, err)
	}
	if l.Seq != seq {
		return agent.Event{}, fmt.Errorf("%w: it says that it is entry %d", agent.ErrDamaged, l.Seq)
	}
	body, err := agent.DecodeBody(l.Kind, l.V, l.Body)
	if err != nil {
		return agent.Event{}, err
	}
	return agent.Event{Run: run, Strand: l.Strand, Seq: seq, At: stampTime(l.At), Body: body}, nil
}

// parseHead reads the length of a journal from the head in its run's hash.
func parseHead(head string) (uint64, error) {
	r, err := parseReceipt(head)
	return r.Seq, err
}

// parseReceipt reads "SEQ AT", as a run's head has it.
func parseReceipt(head string) (agent.Receipt, error) {
	seq, at, _ := strings.Cut(head, " ")
	n, err := strconv.ParseUint(seq, 10, 64)
	micro, atErr := strconv.ParseInt(at, 10, 64)
	if err != nil || atErr != nil {
		return agent.Receipt{}, fmt.Errorf("head %q of a run: %w", head, agent.ErrDamaged)
	}
	if n == 0 {
		return agent.Receipt{}, nil
	}
	return agent.Receipt{Seq: n, At: stampTime(micro)}, nil
}

// Await implements agent.Archive.
func (s *Store) Await(ctx context.Context, run agent.RunID, after uint64) error {
	for {
		rung, leave := s.bell.next(string(run))
		length, err := s.pipe.number(ctx, &call{script: watchScript, keys: []string{s.run(run)}})
		if err != nil {
			leave()
			return s.explain(ctx, "await run "+string(run), err)
		}
		if uint64(length) > after {
			leave()
			return nil
		}
		err = waitForRing(ctx, rung, poll*3/4)
		leave()
		if err != nil {
			return err
		}
	}
}

const (
	// wordTopic stands before the run's id in the topic of its words.
	wordTopic = "word/"
	// wordPoll is how long a ring may have been missed.
	wordPoll = 10 * time.Second
)

// AwaitWord implements agent.Archive. Commits with words ring whether somebody
// waits or not: there are few, and many wait.
func (s *Store) AwaitWord(ctx context.Context, run agent.RunID, after uint64) error {
	rung, leave := s.bell.next(wordTopic + string(run))
	defer leave()
	head, err := s.client.HGet(ctx, s.run(run), "head").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return s.explain(ctx, "await a word in run "+string(run), err)
	}
	if length, err := parseHead(cmp.Or(head, "0 0")); err != nil || length > after {
		return err
	}
	return waitForRing(ctx, rung, wordPoll)
}

// Now implements agent.Clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	now, err := s.pipe.number(ctx, &call{script: nowScript, keys: []string{s.idle(0)}})
	if err != nil {
		return time.Time{}, s.explain(ctx, "read the clock", err)
	}
	return stampTime(now), nil
}
