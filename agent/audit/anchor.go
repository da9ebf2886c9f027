package audit

// The chain's newest hash, kept outside of the store.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Anchor says where the chain ended at a time. Chain is the hash of its first
// entry: it tells the chains of stores apart.
type Anchor struct {
	Chain string    `json:"chain"`
	N     uint64    `json:"n"`
	Hash  string    `json:"hash"`
	At    time.Time `json:"at"`
	// Cut signs off that the entries up to N were taken out.
	Cut bool `json:"cut,omitempty"`
}

// Stdout as Anchors.To writes anchors to the standard output.
const Stdout = "stdout"

// Anchors writes an anchor whenever the chain has grown, at intervals and at the
// end of the process.
type Anchors struct {
	Store Store
	To    string // a file that is appended to, or Stdout
	Every time.Duration
	Out   io.Writer // the standard output
	Log   *slog.Logger

	last uint64
}

// Run writes anchors until ctx ends, and a last one then.
func (a *Anchors) Run(ctx context.Context) {
	tick := time.NewTicker(a.Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := a.write(ctx); err != nil && ctx.Err() == nil {
			a.Log.Error("cannot anchor the audit chain; trying again", "to", a.To, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if err := a.write(ctx); err != nil {
		a.Log.Error("cannot anchor the audit chain at the end", "to", a.To, "err", err)
	}
}

// write writes an anchor where the chain has grown.
func (a *Anchors) write(ctx context.Context) error {
	at, err := end(ctx, a.Store)
	if err != nil || at.n == 0 || at.n == a.last {
		return err
	}
	chain, err := chainOf(ctx, a.Store)
	if err != nil || chain == "" {
		return err
	}
	now, err := a.Store.Now(ctx)
	if err != nil {
		return err
	}
	if err := a.Put(Anchor{Chain: chain, N: at.n, Hash: at.hash, At: now.UTC()}); err != nil {
		return err
	}
	a.last = at.n
	return nil
}

// Put writes an anchor.
func (a *Anchors) Put(anchor Anchor) error {
	line, err := format.JSON(anchor)
	if err != nil {
		return err
	}
	return a.put(append(line, '\n'))
}

func (a *Anchors) put(line []byte) error {
	if a.To == Stdout {
		_, err := a.Out.Write(line)
		return err
	}
	f, err := os.OpenFile(a.To, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Sync(), f.Close())
}

// ReadAnchors reads anchors, a line each; other lines, of a log in between, are
// passed over.
func ReadAnchors(r io.Reader) (anchors []Anchor, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := bytes.TrimSpace(lines.Bytes())
		var a Anchor
		if !bytes.HasPrefix(text, []byte("{")) || json.Unmarshal(text, &a) != nil || a.N == 0 || a.Hash == "" {
			continue
		}
		anchors = append(anchors, a)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the anchors: %w", err)
	}
	return anchors, nil
}
