package recall

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/records"
)

// Embedder gives texts their vectors.
type Embedder interface {
	// Embed returns one vector for each text.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model names what made the vectors: those of another are not compared.
	Model() string
}

// Bounds of embedding.
const (
	// queryPatience is how long a question waits for its vector; recall goes on
	// by words then.
	queryPatience = 2 * time.Second
	embedAtOnce   = 64
	embedText     = 6000 // bytes of a text that its vector stands for
	// embedPause is how long an endpoint that failed is left alone.
	embedPause = 30 * time.Second
)

// embedding is where the vectors of a Memory stand.
type embedding struct {
	head  uint64    // the newest row that was read
	until time.Time // when the endpoint is asked again
}

// vectorPrefix begins the ids of vectors.
const vectorPrefix = "vector/"

// vectorID is the id of the vector of a record, which goes with it.
func vectorID(key string) string {
	if len(vectorPrefix)+len(key) <= 500 {
		return vectorPrefix + key
	}
	sum := sha256.Sum256([]byte(key))
	return vectorPrefix + hex.EncodeToString(sum[:])
}

func vectorKey(id string) (key string, is bool) { return strings.CutPrefix(id, vectorPrefix) }

// A vector is kept with the name of its model and the hash of its text: model,
// zero byte, 8 bytes of hash, then little-endian numbers of 32 bits.
func encodeVector(model, text string, v []float32) []byte {
	data := append([]byte(model), 0)
	sum := sha256.Sum256([]byte(text))
	data = append(data, sum[:8]...)
	for _, f := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
	}
	return data
}

func decodeVector(data []byte, model, text string) ([]float32, bool) {
	name, rest, found := strings.Cut(string(data), "\x00")
	sum := sha256.Sum256([]byte(text))
	if !found || name != model || len(rest) < 12 || len(rest)%4 != 0 || rest[:8] != string(sum[:8]) {
		return nil, false
	}
	v := make([]float32, (len(rest)-8)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[8+4*i : 12+4*i])))
	}
	return v, true
}

// spoken is a record as a text that is embedded.
func spoken(r records.Record) string {
	parts := []string{r.Text, r.Caption}
	if r.Speaker != "" {
		parts[0] = r.Speaker + ": " + parts[0]
	}
	if !r.Time.IsZero() {
		parts = append(parts, r.Time.Format("2 January 2006"))
	}
	text := strings.TrimSpace(strings.Join(parts, "\n"))
	if len(text) > embedText {
		text = strings.ToValidUTF8(text[:embedText], "")
	}
	return text
}

// takeVector gives the index a vector, if it is of this model and text.
func (m *Memory) takeVector(key string, data []byte) {
	if m.Embed == nil {
		return
	}
	r, is := m.index.Record(key)
	if !is {
		return
	}
	if v, good := decodeVector(data, m.Embed.Model(), spoken(r)); good {
		m.index.SetVector(key, v)
	}
}

// vectorOf is the vector of a question; nil where there is none soon: then words
// have to do.
func (m *Memory) vectorOf(ctx context.Context, text string) []float32 {
	m.mu.RLock()
	width, until := m.index.Width(), m.embed.until
	m.mu.RUnlock()
	if m.Embed == nil || width == 0 || time.Now().Before(until) || strings.TrimSpace(text) == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	list, err := m.Embed.Embed(ctx, []string{text})
	if err != nil || len(list) != 1 {
		m.rest(err)
		return nil
	}
	return list[0]
}

func (m *Memory) rest(err error) {
	m.mu.Lock()
	m.embed.until = time.Now().Add(embedPause)
	m.mu.Unlock()
	m.Log.Warn("the embedding endpoint does not answer; recall goes on by words alone for a while", "err", err)
}

// Fill gives records their vectors that have none, and returns how many it
// gave. What an endpoint does before it fails is kept: the next Fill goes on there.
func (m *Memory) Fill(ctx context.Context) (int, error) {
	if m.Embed == nil {
		return 0, nil
	}
	if _, err := m.refresh(ctx); err != nil {
		return 0, err
	}
	m.mu.RLock()
	missing := m.index.All(func(r records.Record) bool { return r.Scope != records.Everywhere && !m.index.HasVector(r.Key()) })
	m.mu.RUnlock()
	done := 0
	for part := range slices.Chunk(missing, embedAtOnce) {
		n, err := m.fill(ctx, part)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

func (m *Memory) fill(ctx context.Context, part []records.Record) (int, error) {
	texts := make([]string, len(part))
	for i, r := range part {
		texts[i] = spoken(r)
	}
	vectors, err := m.Embed.Embed(ctx, texts)
	if err != nil {
		m.rest(err)
		return 0, err
	}
	writes := make([]agent.RecordWrite, len(part))
	for i, r := range part {
		writes[i] = agent.RecordWrite{ID: vectorID(r.Key()), Data: encodeVector(m.Embed.Model(), texts[i], vectors[i]), Seen: agent.AnyRecord}
	}
	if _, err := m.Store.WriteRecords(ctx, writes); err != nil {
		return 0, err
	}
	_, err = m.refresh(ctx)
	return len(part), err
}
