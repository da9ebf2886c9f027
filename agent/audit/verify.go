package audit

// What was changed, removed or cut off.

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// FindingKind says what is wrong.
type FindingKind string

// The kinds of findings.
const (
	Changed  FindingKind = "changed"
	Removed  FindingKind = "removed"
	Cut      FindingKind = "cut"
	Unsealed FindingKind = "unsealed"
	Foreign  FindingKind = "foreign"
)

// Finding is one thing that is not as it was. N is the entry of the chain; Run
// and Seq are the journal's, where it is about one.
type Finding struct {
	Kind FindingKind `json:"kind"`
	N    uint64      `json:"n,omitempty"`
	Run  agent.RunID `json:"run,omitempty"`
	Seq  uint64      `json:"seq,omitempty"`
	Text string      `json:"text"`
}

// Verdict is what Verify found.
type Verdict struct {
	Entries   uint64    `json:"entries"` // of the chain
	Runs      int       `json:"runs"`    // that are sealed
	Decisions int       `json:"decisions"`
	Findings  []Finding `json:"findings"`
	// Notes are worth knowing and nothing wrong: journals from before the chain,
	// runs that expired, what is not sealed yet.
	Notes []string `json:"notes"`
}

// Check is what Verify goes by.
type Check struct {
	Store   Store
	Anchors []Anchor
	// Kept is how long ended runs are kept: those that ended longer ago may be gone.
	Kept time.Duration
}

// page is how many lines of the chain are read at once.
const page = 500

// Verify looks through the chain, the journals it seals and the anchors.
func (c Check) Verify(ctx context.Context) (Verdict, error) {
	w := &walk{Check: c, seals: map[agent.RunID][]Entry{}, anchors: map[uint64][]Anchor{}}
	w.verdict.Findings, w.verdict.Notes = []Finding{}, []string{}
	for _, a := range c.Anchors {
		w.anchors[a.N] = append(w.anchors[a.N], a)
	}
	if err := w.chain(ctx); err != nil {
		return Verdict{}, err
	}
	if err := w.journals(ctx); err != nil {
		return Verdict{}, err
	}
	return w.verdict, nil
}

// walk is one look through everything.
type walk struct {
	Check
	verdict Verdict
	first   string // hash of the first entry
	at      head
	seals   map[agent.RunID][]Entry
	anchors map[uint64][]Anchor
	removed time.Time // runs that had ended before were removed
	// start is where the chain begins since its beginning was taken out; said and
	// signed are whether the chain and the anchors say so.
	start        start
	said, signed bool
}

func (w *walk) found(f Finding, format string, args ...any) {
	f.Text = fmt.Sprintf(format, args...)
	w.verdict.Findings = append(w.verdict.Findings, f)
}

func (w *walk) note(format string, args ...any) {
	w.verdict.Notes = append(w.verdict.Notes, fmt.Sprintf(format, args...))
}

// chain follows the chain from its first entry to its end.
func (w *walk) chain(ctx context.Context) error {
	last, err := w.Store.TrailEnd(ctx)
	if err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	for w.at.n < last {
		lines, err := w.Store.ReadTrail(ctx, w.at.n, page)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			w.found(Finding{Kind: Cut, N: w.at.n + 1}, "the chain's entries %d to %d are missing: the end was cut off", w.at.n+1, last)
			break
		}
		for _, line := range lines {
			w.line(line)
		}
	}
	w.begun()
	w.verdict.Entries = w.at.n - w.start.n
	return w.ends(ctx)
}

// line holds one line of the chain against the one before.
func (w *walk) line(line string) {
	n := w.at.n + 1
	prev := w.at.hash
	w.at = head{n, hashOf(line)}
	if n == 1 {
		w.first = w.at.hash
	}
	e, err := parse(line)
	switch {
	case line == "":
		w.found(Finding{Kind: Removed, N: n}, "entry %d of the chain is missing", n)
		return
	case err != nil:
		w.found(Finding{Kind: Changed, N: n}, "entry %d of the chain cannot be read (%v)", n, err)
		return
	case e.N != n:
		w.found(Finding{Kind: Changed, N: n}, "entry %d of the chain says that it is entry %d", n, e.N)
	case e.Prev != prev:
		w.found(Finding{Kind: Changed, N: n - 1}, "entry %d of the chain was changed after entry %d was written", n-1, n)
	}
	for _, a := range w.anchors[n] {
		if a.Hash != w.at.hash && a.Chain == w.first {
			w.found(Finding{Kind: Changed, N: n}, "entry %d of the chain, or one before it, is not what it was when it was anchored at %s", n, stamp(a.At))
		}
	}
	switch e.Kind {
	case KindSeal:
		w.seals[e.Run] = append(w.seals[e.Run], e)
		w.verdict.Decisions += len(e.Decisions)
	case KindRetention:
		if e.Before.After(w.removed) {
			w.removed = e.Before
		}
	case KindCut:
		w.said = w.said || e.Facts["start"] == w.start.String()
	case KindBroken:
		w.found(Finding{Kind: Cut, N: n}, "entry %d, written at %s: %s. A failover that lost the newest writes does that, too", n, stamp(e.At), e.What)
	}
}

// ends holds the chain's end against what is known of it elsewhere.
func (w *walk) ends(ctx context.Context) error {
	text, err := w.Store.Value(ctx, headName)
	if err != nil {
		return err
	}
	if known := parseHead(text); known.n > w.at.n {
		w.found(Finding{Kind: Cut, N: w.at.n + 1}, "the chain ends at entry %d and had %d: its end was cut off", w.at.n, known.n)
	} else if known.n == w.at.n && known.hash != w.at.hash {
		w.found(Finding{Kind: Changed, N: w.at.n}, "entry %d, the last of the chain, is not what was written", w.at.n)
	}
	for _, a := range w.Anchors {
		switch {
		case a.Chain != w.first:
			w.found(Finding{Kind: Foreign, N: a.N}, "the anchor of %s (entry %d) is of another chain: this store was replaced, its first entry was changed, or the file belongs to another store", stamp(a.At), a.N)
		case a.N > w.at.n:
			w.found(Finding{Kind: Cut, N: w.at.n + 1}, "the chain ends at entry %d, and the anchor of %s knows entry %d: its end was cut off", w.at.n, stamp(a.At), a.N)
		}
	}
	if w.at.n == 0 && text == "" && len(w.Anchors) == 0 {
		w.note("there is no chain yet: `deckhand serve` and `deckhand run` begin it")
	}
	return nil
}

// journals holds each sealed journal against its seals.
func (w *walk) journals(ctx context.Context) error {
	runs, err := w.Store.Runs(ctx, agent.RunFilter{})
	if err != nil {
		return err
	}
	there := map[agent.RunID]agent.RunInfo{}
	before, waiting := 0, 0
	for _, r := range runs {
		there[r.Run] = r
		if _, sealed := w.seals[r.Run]; !sealed {
			if r.Ended.IsZero() {
				waiting++
			} else {
				before++
			}
		}
	}
	if before > 0 {
		w.note("%d ended runs are not in the chain: they ended before it began (Deckhand was older, or did not serve)", before)
	}
	if waiting > 0 {
		w.note("%d runs are not in the chain yet", waiting)
	}
	now, err := w.Store.Now(ctx)
	if err != nil {
		return err
	}
	w.verdict.Runs = len(w.seals)
	expired := 0
	for _, run := range slices.Sorted(maps.Keys(w.seals)) {
		if _, is := there[run]; is {
			err = w.journal(ctx, run)
		} else if w.mayBeGone(run, now) {
			expired++
		} else {
			w.found(Finding{Kind: Removed, Run: run}, "run %s is sealed in the chain and was removed from the store before its time", run)
		}
		if err != nil {
			return err
		}
	}
	if expired > 0 {
		w.note("%d sealed runs have expired: their seals and decisions stay in the chain", expired)
	}
	return nil
}

// mayBeGone reports whether the run was old enough to be removed.
func (w *walk) mayBeGone(run agent.RunID, now time.Time) bool {
	for _, e := range w.seals[run] {
		if !e.Ended.IsZero() && (e.Ended.Before(w.removed) || e.Ended.Before(now.Add(-w.Kept))) {
			return true
		}
	}
	return false
}

// journal holds one journal against its seals.
func (w *walk) journal(ctx context.Context, run agent.RunID) error {
	var sums [][sha256.Size]byte // of entry i+1
	var unreadable []uint64
	for after := uint64(0); ; {
		kept, err := w.Store.ReadKept(ctx, run, after, stretch)
		if errors.Is(err, agent.ErrNoRun) {
			return nil // it expired just now
		}
		if err != nil {
			return err
		}
		for _, k := range kept {
			for after+1 < k.Seq {
				after++
				sums = append(sums, [sha256.Size]byte{})
				unreadable = append(unreadable, after)
			}
			after++
			sums = append(sums, digest(run, k))
		}
		if len(kept) < stretch {
			break
		}
	}
	for _, seq := range unreadable {
		w.found(Finding{Kind: Removed, Run: run, Seq: seq}, "entry %d of run %s is missing", seq, run)
	}
	sealed := uint64(0)
	for _, e := range w.seals[run] {
		if e.From > sealed+1 {
			w.found(Finding{Kind: Unsealed, Run: run, Seq: sealed + 1}, "entries %d to %d of run %s were never sealed", sealed+1, e.From-1, run)
		}
		sealed = max(sealed, e.To)
		w.stretch(e, sums, len(unreadable) > 0)
	}
	if n := uint64(len(sums)); n > sealed {
		w.note("run %s: %d newer entries are not sealed yet", run, n-sealed)
	}
	return nil
}

// stretch holds a stretch of a journal against its seal.
func (w *walk) stretch(e Entry, sums [][sha256.Size]byte, gaps bool) {
	if e.From == 0 || e.To < e.From {
		w.found(Finding{Kind: Changed, N: e.N, Run: e.Run}, "the seal of run %s in entry %d covers nothing", e.Run, e.N)
		return
	}
	if n := uint64(len(sums)); n < e.To {
		w.found(Finding{Kind: Cut, N: e.N, Run: e.Run, Seq: n + 1}, "run %s has %d entries and had %d when it was sealed (entry %d of the chain): its end was cut off", e.Run, n, e.To, e.N)
		return
	}
	all := sha256.New()
	for _, sum := range sums[e.From-1 : e.To] {
		_, _ = all.Write(sum[:])
	}
	if hex.EncodeToString(all.Sum(nil)) == e.Digest || gaps {
		return
	}
	short, _ := base64.RawStdEncoding.DecodeString(e.Sums) // what is too short tells of no entry
	for i, sum := range sums[e.From-1 : e.To] {
		seq := e.From + uint64(i)
		if at := sumBytes * i; at+sumBytes <= len(short) && !slices.Equal(sum[:sumBytes], short[at:at+sumBytes]) {
			w.found(Finding{Kind: Changed, N: e.N, Run: e.Run, Seq: seq}, "entry %d of run %s is not what it was when it was sealed at %s", seq, e.Run, stamp(e.At))
			return
		}
	}
	w.found(Finding{Kind: Changed, N: e.N, Run: e.Run, Seq: e.From}, "entries %d to %d of run %s are not what they were when they were sealed at %s", e.From, e.To, e.Run, stamp(e.At))
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
