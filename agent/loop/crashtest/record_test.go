package crashtest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// record is a file of lines that survives the death of whoever writes it: what
// the kernel has is not lost with a process.
type record struct{ file *os.File }

// line is one entry of a record: one of its fields is set.
type line struct {
	Kept *kept  `json:",omitempty"`
	Died *death `json:",omitempty"`
}

// kept is a commit that a store acknowledged: its last seq, how many events it
// had and their hash.
type kept struct {
	Run    agent.RunID
	Seq    uint64
	Events int
	Sum    string
}

// death is the end of a worker by its own hand.
type death struct {
	Run      agent.RunID
	Strand   agent.StrandID
	Boundary boundary
	At       time.Time
}

func openRecord(name string) (*record, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return &record{f}, err
}

func (r *record) write(l line) {
	b, err := json.Marshal(l)
	if err == nil {
		_, err = r.file.Write(append(b, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("the record cannot be written, so nothing can be proved: %v", err))
	}
}

func readRecord(name string) ([]line, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []line
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("record %s: %q: %w", name, in.Text(), err)
		}
		all = append(all, l)
	}
	return all, nil
}

// sum is the hash of what the events say.
func sum(events []agent.Event) string {
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
