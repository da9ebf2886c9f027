package fold

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// version changes whenever Apply gives another Run for the same journal:
// snapshots of other versions are not read.
const version = 23

// A journal gets a snapshot each time it has grown by this many events.
const (
	snapshotEvery = 256
	remembered    = 600 // events before a snapshot that an Observer sees again
)

type snapshot struct {
	Version int       `json:"version"`
	Run     agent.Run `json:"run"`
}

// restore begins with the kept snapshot, if this build can read it.
func (c *Cache[O]) restore(ctx context.Context, e *entry[O]) {
	if c.Snapshots == nil {
		return
	}
	seq, data, err := c.Snapshots.Snapshot(ctx, e.id)
	if err != nil || seq == 0 {
		return // the journal alone is enough
	}
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil || s.Version != version || s.Run.Seq != seq {
		c.Log.Info("snapshot of another version is not used", "run", e.id, "seq", seq)
		return
	}
	e.run, e.kept, e.stamps = s.Run, seq, []int64{s.Run.Last.UnixNano()}
	if _, none := any(e.observer).(None); none {
		return
	}
	// What was done shortly before still counts for stuck detection.
	recent, err := c.Journals.Read(ctx, e.id, seq-min(seq, remembered))
	if err != nil {
		return // catchUp reports it
	}
	for _, ev := range recent {
		if ev.Seq <= seq {
			e.observer.Apply(ev)
		}
	}
}

// Keep writes a snapshot where the journal has grown enough since the last.
func (c *Cache[O]) Keep(ctx context.Context, id agent.RunID) error {
	e := c.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run.Seq < e.kept+snapshotEvery || e.run.Ended != nil {
		return nil
	}
	data, err := format.JSON(snapshot{Version: version, Run: e.run}) // arguments and values come back byte for byte
	if err != nil {
		return fmt.Errorf("snapshot of run %s: %w", id, err)
	}
	if err := c.Snapshots.KeepSnapshot(ctx, id, e.run.Seq, data); err != nil {
		return err
	}
	e.kept = e.run.Seq
	return nil
}
