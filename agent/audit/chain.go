package audit

// Appending to the chain; entries of processes.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
)

// Store is what the chain needs of a store.
type Store interface {
	agent.Trail
	agent.Names
	agent.Listing
	agent.Clock
}

// The names under which a store keeps what is known of the chain beside it: the
// end that it should have ("N HASH"), and to where a run is sealed, and by which
// entry ("RUN/SEQ/N"), which goes with the run.
const (
	headName   = "audit.head"
	configName = "audit.configuration"
	markPrefix = "audit/"
)

// head is an end of the chain.
type head struct {
	n    uint64
	hash string
}

func (h head) String() string { return fmt.Sprintf("%d %s", h.n, h.hash) }

func parseHead(text string) (h head) {
	if _, err := fmt.Sscanf(text, "%d %s", &h.n, &h.hash); err != nil {
		return head{}
	}
	return h
}

// end reads where the chain ends.
func end(ctx context.Context, s Store) (head, error) {
	n, err := s.TrailEnd(ctx)
	if err != nil || n == 0 {
		return head{}, err
	}
	lines, err := s.ReadTrail(ctx, n-1, 1)
	if err != nil {
		return head{}, err
	}
	if len(lines) == 0 {
		return head{n: n}, nil // it is missing: whoever verifies is told
	}
	return head{n, hashOf(lines[0])}, nil
}

// attempts is how often an append is tried where others are faster.
const attempts = 20

// appendTo adds entries to the chain and returns its new end. Where the chain is
// empty it begins; where it does not reach to the end that the store should have,
// that is said first. Compose makes the entries; it is called again where
// somebody else was faster.
func appendTo(ctx context.Context, s Store, compose func(ctx context.Context, at head) ([]Entry, error)) (head, error) {
	for range attempts {
		at, err := end(ctx, s)
		if err != nil {
			return head{}, err
		}
		entries, err := compose(ctx, at)
		if err != nil || len(entries) == 0 {
			return at, err
		}
		first, err := before(ctx, s, at)
		if err != nil {
			return head{}, err
		}
		lines, last, err := link(ctx, s, at, append(first, entries...))
		if err != nil {
			return head{}, err
		}
		err = s.AppendTrail(ctx, at.n, lines)
		if errors.Is(err, agent.ErrStale) {
			continue
		}
		if err != nil {
			return head{}, err
		}
		return last, nil
	}
	return head{}, fmt.Errorf("%d processes and more append to the audit chain at once: %w", attempts, agent.ErrStale)
}

// before are the entries that have to come first: the chain's beginning, or that
// it is shorter than it was.
func before(ctx context.Context, s Store, at head) ([]Entry, error) {
	text, err := s.Value(ctx, headName)
	if err != nil {
		return nil, err
	}
	known := parseHead(text)
	var first []Entry
	if at.n == 0 {
		first = append(first, Entry{Kind: KindBegan, Facts: map[string]string{"chain": agent.NewID()}})
	}
	if known.n > at.n {
		first = append(first, Entry{Kind: KindBroken, What: fmt.Sprintf("the chain ends at entry %d; it had %d entries, the last with the hash %s", at.n, known.n, known.hash)})
	}
	return first, nil
}

// link gives entries their places, and returns their lines and the new end.
func link(ctx context.Context, s Store, at head, entries []Entry) (lines []string, last head, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, at, err
	}
	for _, e := range entries {
		e.N, e.Prev, e.At = at.n+1, at.hash, now.UTC()
		line, err := e.line()
		if err != nil {
			return nil, at, err
		}
		lines = append(lines, line)
		at = head{e.N, hashOf(line)}
	}
	return lines, at, nil
}

// Note adds an entry of a process to the chain.
func Note(ctx context.Context, s Store, e Entry) error {
	last, err := appendTo(ctx, s, func(context.Context, head) ([]Entry, error) { return []Entry{e}, nil })
	if err == nil {
		err = s.SetValue(ctx, headName, last.String())
	}
	if err != nil {
		return fmt.Errorf("write %s to the audit chain: %w", e.Kind, err)
	}
	return nil
}

// keep gives names their values, at once: a store writes them together.
func keep(ctx context.Context, s agent.Names, values map[string]string) error {
	group, ctx := errgroup.WithContext(ctx)
	for name, value := range values {
		group.Go(func() error { return s.SetValue(ctx, name, value) })
	}
	return group.Wait()
}

// Process names this process: user, host and number.
func Process() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s@%s/%d", name, host, os.Getpid())
}

// Expiring notes that runs are about to be removed that ended before the time,
// where there are any.
func Expiring(ctx context.Context, s Store, before time.Time) error {
	all, err := s.CountRuns(ctx, agent.RunFilter{})
	if err != nil {
		return err
	}
	kept, err := s.CountRuns(ctx, agent.RunFilter{EndedAfter: before.Add(-time.Nanosecond)})
	if err != nil || all <= kept {
		return err
	}
	return Note(ctx, s, Entry{Kind: KindRetention, Who: Process(), Before: before.UTC(),
		What: fmt.Sprintf("%d runs that had ended before %s were removed", all-kept, before.UTC().Format(time.RFC3339))})
}

// Configured notes the values of a configuration, where they differ from those
// that were noted last: what each was and is.
func Configured(ctx context.Context, s Store, values map[string]string) error {
	text, err := s.Value(ctx, configName)
	if err != nil {
		return err
	}
	now, err := json.Marshal(values)
	if err != nil || string(now) == text {
		return err
	}
	what, facts := "the configuration was noted", values
	var before map[string]string
	if json.Unmarshal([]byte(text), &before) == nil && before != nil {
		what, facts = "the configuration changed", map[string]string{}
		for key, value := range values {
			if old, had := before[key]; !had || old != value {
				facts[key] = cmp.Or(old, "nothing") + " → " + value
			}
		}
		for key, old := range before {
			if _, has := values[key]; !has {
				facts[key] = old + " → nothing"
			}
		}
	}
	if err := Note(ctx, s, Entry{Kind: KindConfig, Who: Process(), What: what, Facts: facts}); err != nil {
		return err
	}
	return s.SetValue(ctx, configName, string(now))
}
