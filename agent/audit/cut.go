package audit

// The chain's beginning, taken out at an anchor once it is no longer needed.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// cutName is the name under which a store keeps where its chain begins since its
// beginning was taken out ("N HASH CHAIN"). The chain itself and the anchors say so,
// too: Verify believes no name alone.
const cutName = "audit.cut"

// start is where the chain begins: behind its entry n of the hash. Chain is the hash
// of its very first entry.
type start struct {
	head
	chain string
}

func (s start) String() string { return fmt.Sprintf("%d %s %s", s.n, s.hash, s.chain) }

// startOf reads where the chain begins; the zero start is its first entry.
func startOf(ctx context.Context, s Store) (start, error) {
	text, err := s.Value(ctx, cutName)
	if err != nil || text == "" {
		return start{}, err
	}
	var at start
	if _, err := fmt.Sscanf(text, "%d %s %s", &at.n, &at.hash, &at.chain); err != nil {
		return start{}, nil //nolint:nilerr // the missing entries are found
	}
	return at, nil
}

// chainOf is the hash of the very first entry, empty: there is none.
func chainOf(ctx context.Context, s Store) (string, error) {
	at, err := startOf(ctx, s)
	if err != nil || at.chain != "" {
		return at.chain, err
	}
	first, err := s.ReadTrail(ctx, 0, 1)
	if err != nil || len(first) == 0 {
		return "", err
	}
	return hashOf(first[0]), nil
}

// ErrNoCut says that the chain's beginning cannot be taken out, and why.
var ErrNoCut = errors.New("nothing of the audit chain can be taken out")

// Cutting takes the beginning of a chain out.
type Cutting struct {
	Check

	Before time.Time                  // of the anchor that it is cut at
	Keep   func(lines []string) error // is given what is taken out before that is gone
	Sign   func(a Anchor) error       // writes the anchor that signs it off
}

// Cut takes out what stands before the newest anchor that is older than the time,
// where every run that is sealed there is gone. First the lines are kept elsewhere,
// then the chain and the anchors say what is taken out; Verify proves the rest.
func (c Cutting) Cut(ctx context.Context) (at Anchor, err error) {
	verdict, err := c.Verify(ctx)
	if err != nil {
		return at, err
	}
	if len(verdict.Findings) > 0 {
		return at, fmt.Errorf("%w: it is not whole: %s", ErrNoCut, verdict.Findings[0].Text)
	}
	from, err := startOf(ctx, c.Store)
	if err != nil {
		return at, err
	}
	if at, err = c.place(ctx, from); err != nil {
		return at, err
	}
	if err := c.keep(ctx, from.n, at.N); err != nil {
		return at, err
	}
	cut := start{head{at.N, at.Hash}, at.Chain}
	err = Note(ctx, c.Store, Entry{Kind: KindCut, Who: Process(), What: fmt.Sprintf("the entries up to %d were taken out", at.N), Facts: map[string]string{"start": cut.String()}})
	if err != nil {
		return at, err
	}
	now, err := c.Store.Now(ctx)
	if err != nil {
		return at, err
	}
	if err := c.Sign(Anchor{Chain: at.Chain, N: at.N, Hash: at.Hash, At: now.UTC(), Cut: true}); err != nil {
		return at, err
	}
	if err := c.Store.SetValue(ctx, cutName, cut.String()); err != nil {
		return at, err
	}
	return at, c.Store.CutTrail(ctx, at.N)
}

// place is the newest anchor at which the chain may be cut.
func (c Cutting) place(ctx context.Context, from start) (at Anchor, err error) {
	needed, err := c.needed(ctx, from.n)
	if err != nil {
		return at, err
	}
	for _, a := range c.Anchors {
		if !a.Cut && a.N > max(at.N, from.n) && a.N < needed && a.At.Before(c.Before) {
			at = a
		}
	}
	if at.N == 0 {
		return at, fmt.Errorf("%w: no anchor before %s stands before the first entry that is still needed (%d: it seals a run that is kept)", ErrNoCut, stamp(c.Before), needed)
	}
	return at, nil
}

// needed is the first entry behind n that seals a run which is still there; beyond
// the chain's end where none does.
func (c Cutting) needed(ctx context.Context, n uint64) (uint64, error) {
	runs, err := c.Store.Runs(ctx, agent.RunFilter{})
	if err != nil {
		return 0, err
	}
	there := map[agent.RunID]bool{}
	for _, r := range runs {
		there[r.Run] = true
	}
	for {
		lines, err := c.Store.ReadTrail(ctx, n, page)
		if err != nil || len(lines) == 0 {
			return n + 1, err
		}
		for _, line := range lines {
			n++
			if e, err := parse(line); err == nil && e.Kind == KindSeal && there[e.Run] {
				return n, nil
			}
		}
	}
}

// keep gives away the lines behind one number up to another.
func (c Cutting) keep(ctx context.Context, after, upto uint64) error {
	for after < upto {
		lines, err := c.Store.ReadTrail(ctx, after, int(min(page, upto-after)))
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			return fmt.Errorf("%w: entry %d is missing", ErrNoCut, after+1)
		}
		if err := c.Keep(lines); err != nil {
			return err
		}
		after += uint64(len(lines))
	}
	return nil
}

// begin begins a look through a chain whose beginning was taken out.
func (w *walk) begin(ctx context.Context) error {
	at, err := startOf(ctx, w.Store)
	if err != nil || at.n == 0 {
		return err
	}
	w.start, w.at, w.first = at, at.head, at.chain
	for _, a := range w.anchors[at.n] {
		if a.Hash != at.hash && a.Chain == at.chain {
			w.found(Finding{Kind: Changed, N: at.n}, "entry %d of the chain, the last that was taken out, is not what it was when it was anchored at %s", at.n, stamp(a.At))
		}
		w.signed = w.signed || a.Cut && a.Hash == at.hash
	}
	return nil
}

// begun holds what was taken out against what the chain and the anchors say of it.
func (w *walk) begun() {
	switch {
	case w.start.n == 0:
	case !w.said:
		w.found(Finding{Kind: Removed, N: w.start.n}, "the entries 1 to %d of the chain are missing, and no entry says that they were taken out", w.start.n)
	case len(w.Anchors) > 0 && !w.signed:
		w.found(Finding{Kind: Removed, N: w.start.n}, "the entries 1 to %d of the chain were taken out, and no anchor signs that off", w.start.n)
	default:
		w.note("the entries 1 to %d of the chain were taken out; the last of them has the hash %s", w.start.n, w.start.hash)
	}
}
