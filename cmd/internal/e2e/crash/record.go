package crash

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Record is a file of entries that survives the death of whoever writes it: what
// the kernel has is not lost with a process.
type Record struct{ file *os.File }

// Entry is one line of a record: one of its fields is set.
type Entry struct {
	Kept *Kept  `json:",omitempty"`
	Died *Death `json:",omitempty"`
}

// Kept is a commit that a store acknowledged: its last seq, how many events it
// had and their hash.
type Kept struct {
	Run    agent.RunID
	Seq    uint64
	Events int
	Sum    string
}

// Death is the end of a child by its own hand.
type Death struct {
	Boundary Boundary
	Run      agent.RunID
	Strand   agent.StrandID
	About    string // what was committed, run or sent
	At       time.Time
}

// OpenRecord opens a record to add to it, and creates it if need be.
func OpenRecord(name string) (*Record, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return &Record{f}, err
}

// Close closes the file.
func (r *Record) Close() error { return r.file.Close() }

// Write adds an entry.
func (r *Record) Write(e Entry) {
	b, err := json.Marshal(e)
	if err == nil {
		_, err = r.file.Write(append(b, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("the record cannot be written, so nothing can be proved: %v", err))
	}
}

// ReadRecord is every entry of a record, the oldest first.
func ReadRecord(name string) ([]Entry, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		var e Entry
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("record %s: %q: %w", name, in.Text(), err)
		}
		all = append(all, e)
	}
	return all, nil
}

// Sum is the hash of what the events say.
func Sum(events []agent.Event) string {
	h := sha256.New()
	for _, e := range events {
		body, err := agent.EncodeBody(e.Body)
		if err != nil {
			panic(err) // every body of the closed set encodes
		}
		fmt.Fprintf(h, "%s %s %s\n", e.Strand, e.Body.Kind(), body)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Journal is a journal for people.
func Journal(events []agent.Event) string {
	var b strings.Builder
	for _, e := range events {
		body, err := agent.EncodeBody(e.Body)
		if err != nil {
			panic(err) // every body of the closed set encodes
		}
		fmt.Fprintf(&b, "%4d %s %-8s %-20s %.300s\n", e.Seq, e.At.Format("05.000"), e.Strand, e.Body.Kind(), body)
	}
	return b.String()
}
