package recall

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/memory/index"
)

// The bounds of a question and of what the index takes. Of more records than
// that the oldest are not found, unless they are pinned; they stay in the store.
const (
	MaxQuery   = 10_000 // bytes
	MaxLimit   = 1000
	MaxIndexed = 200_000
	// maxKept is how much of a long text the index keeps, in bytes.
	maxKept   = 64 << 10
	readAtOne = 2000
)

// Store is what records are kept in.
type Store interface {
	agent.Records
	Now(ctx context.Context) (time.Time, error)
}

// Config is what a Memory is made from.
type Config struct {
	Store Store
	// Embed, when set, gives texts their vectors: recall by meaning beside recall
	// by words.
	Embed Embedder
	// Member, when set, says whether a person may (still) read what is said at a
	// place, "platform:workspace:channel". An error counts as no.
	Member func(ctx context.Context, person, place string) (bool, error)
	// Shelf are records that are in no store: they are found like the others, are
	// in no list, and stay as they are.
	Shelf []records.Record
	Log   *slog.Logger
}

// Memory keeps records and finds them again. It implements records.Memory.
type Memory struct {
	Config

	mu    sync.RWMutex
	index *index.Index // nil before the first question
	rows  map[string]uint64
	state agent.RecordState
	embed embedding
}

var _ records.Memory = (*Memory)(nil)

// New makes a Memory on a store. Nothing is read yet.
func New(c Config) *Memory {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Memory{Config: c}
}

// Search implements records.Memory.
func (m *Memory) Search(ctx context.Context, q records.Query) ([]records.Hit, error) {
	if len(q.Text) > MaxQuery {
		q.Text = strings.ToValidUTF8(q.Text[:MaxQuery], "")
	}
	now, err := m.refresh(ctx)
	if err != nil {
		return nil, err
	}
	may, err := m.allowed(ctx, q.Viewer)
	if err != nil || !may {
		return nil, err
	}
	vector := m.vectorOf(ctx, q.Text)
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.index.Search(index.Ask{Text: q.Text, Vector: vector, Fits: q.Fits, Limit: min(q.Limit, MaxLimit), Now: now}), nil
}

// allowed asks whether the viewer is still of the place: whoever left a channel
// sees nothing of it.
func (m *Memory) allowed(ctx context.Context, v records.Viewer) (bool, error) {
	if m.Member == nil || v.All || v.Own || v.Place == "" || v.Person == "" {
		return true, nil
	}
	may, err := m.Member(ctx, v.Person, v.Place)
	if err != nil {
		m.Log.Warn("cannot find out whether somebody is still in a channel: nothing is recalled for them", "place", v.Place, "err", err)
		return false, ctx.Err()
	}
	return may, nil
}

// List returns all records that the query's viewer may see and that have its
// scope and kinds, the newest first; those that expired or were replaced, too.
func (m *Memory) List(ctx context.Context, q records.Query) ([]records.Record, error) {
	if _, err := m.refresh(ctx); err != nil {
		return nil, err
	}
	may, err := m.allowed(ctx, q.Viewer)
	if err != nil || !may {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.index.All(func(r records.Record) bool { return r.Scope != records.Everywhere && q.Fits(r) }), nil
}

// Show returns the records with the id that the viewer may see: one in each scope
// that has it.
func (m *Memory) Show(ctx context.Context, v records.Viewer, id string) ([]records.Record, error) {
	all, err := m.List(ctx, records.Query{Viewer: v})
	if err != nil {
		return nil, err
	}
	var list []records.Record
	for _, r := range all {
		if r.ID == id || r.Key() == id || string(r.Scope)+"/"+r.ID == id {
			list = append(list, r)
		}
	}
	return list, nil
}

// refresh brings the index up to date and returns the store's clock.
func (m *Memory) refresh(ctx context.Context) (time.Time, error) {
	now, err := m.Store.Now(ctx)
	if err != nil {
		return now, fmt.Errorf("recall: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.catchUp(ctx); err != nil {
		return now, fmt.Errorf("recall: %w", err)
	}
	return now, nil
}

// catchUp reads what was written since. A store that lost something is read anew.
func (m *Memory) catchUp(ctx context.Context) error {
	if m.index == nil {
		m.reset()
	}
	for again := range 2 {
		if err := m.readOn(ctx); err != nil {
			return err
		}
		if m.state.Live == len(m.rows) && m.state.Head == m.embed.head {
			break
		}
		if again > 0 {
			break // somebody is writing
		}
		m.reset()
	}
	if m.index.Dirty() {
		m.index.Tidy()
	}
	return nil
}

func (m *Memory) reset() {
	m.index, m.rows, m.state = index.New(), map[string]uint64{}, agent.RecordState{}
	m.embed.head = 0
	for _, r := range m.Shelf {
		m.index.Put(r)
	}
}

func (m *Memory) readOn(ctx context.Context) error {
	for {
		rows, state, err := m.Store.ReadRecords(ctx, m.embed.head, readAtOne)
		if err != nil {
			return err
		}
		m.state = state
		for _, row := range rows {
			m.take(row)
			m.embed.head = row.Seq
		}
		if len(rows) < readAtOne {
			return nil
		}
	}
}

// take puts one row of the store into the index.
func (m *Memory) take(row agent.RecordRow) {
	if len(row.Data) == 0 {
		delete(m.rows, row.ID)
		m.index.Remove(row.ID)
		return
	}
	m.rows[row.ID] = row.Seq
	if key, is := vectorKey(row.ID); is {
		m.takeVector(key, row.Data)
		return
	}
	if !records.IsKey(row.ID) {
		return // of a newer build
	}
	r, err := records.Decode(row.Data)
	if err != nil || r.Key() != row.ID {
		m.Log.Warn("a record cannot be read; it is left out", "record", row.ID, "err", err)
		return
	}
	if m.index.Len() >= MaxIndexed && !r.Pinned {
		return
	}
	r.Text, r.Caption = head(r.Text), head(r.Caption)
	m.index.Put(r)
}

// head is as much of a long text as the index keeps.
func head(text string) string {
	if len(text) <= maxKept {
		return text
	}
	return strings.ToValidUTF8(text[:maxKept], "")
}
