package audit

// An entry of the chain, its hash, and the digests of journals.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Kind names what an entry says.
type Kind string

// The kinds of entries. Began is the first of a chain. A seal covers a stretch of
// one run's journal. Broken says that the chain did not end where the process
// that wrote it had left it.
const (
	KindBegan     Kind = "chain.began"
	KindBroken    Kind = "chain.broken"
	KindSeal      Kind = "seal"
	KindStarted   Kind = "process.started"
	KindConfig    Kind = "configuration"
	KindRetention Kind = "retention"
	KindSource    Kind = "source.accepted"
	KindCut       Kind = "chain.cut"
)

// Entry is one line of the chain. Its hash is the SHA-256 of the line.
type Entry struct {
	N    uint64    `json:"n"`              // from 1
	Prev string    `json:"prev,omitempty"` // hash of the entry before, hex
	At   time.Time `json:"at"`             // by the store's clock
	Kind Kind      `json:"kind"`

	// Of a seal: the run, its journal's entries From to To, and the SHA-256 over
	// their digests. Sums holds the first 8 bytes of each of these, in base64: they
	// tell which one was changed.
	Run    agent.RunID `json:"run,omitempty"`
	From   uint64      `json:"from,omitempty"`
	To     uint64      `json:"to,omitempty"`
	Digest string      `json:"digest,omitempty"`
	Sums   string      `json:"sums,omitempty"`
	// Ended is when the run ended, where that is among the entries.
	Ended     time.Time  `json:"ended,omitzero"`
	Decisions []Decision `json:"decisions,omitempty"`

	// Of other kinds: who did it (user@host and process), what it was, and on what.
	Who   string            `json:"who,omitempty"`
	What  string            `json:"what,omitempty"`
	Facts map[string]string `json:"facts,omitempty"`
	// Before is when runs had ended that were removed.
	Before time.Time `json:"before,omitzero"`
}

// line is the entry as it is kept.
func (e Entry) line() (string, error) {
	text, err := format.JSON(e)
	if err != nil {
		return "", fmt.Errorf("entry %d of the audit chain: %w", e.N, err)
	}
	return string(text), nil
}

// hashOf is the hash of a line of the chain.
func hashOf(line string) string {
	sum := sha256.Sum256([]byte(line))
	return hex.EncodeToString(sum[:])
}

func parse(line string) (e Entry, err error) {
	err = json.Unmarshal([]byte(line), &e)
	return e, err
}

// sumBytes is how much of an entry's digest a seal holds.
const sumBytes = 8

// digest is the SHA-256 of a journal's entry: of each of its fields behind its
// length.
func digest(run agent.RunID, k agent.Kept) [sha256.Size]byte {
	h := sha256.New()
	var n [8]byte
	number := func(v uint64) {
		binary.BigEndian.PutUint64(n[:], v)
		_, _ = h.Write(n[:]) // a hash takes everything
	}
	for _, field := range [][]byte{[]byte(run), []byte(k.Strand), []byte(k.Kind), k.Body} {
		number(uint64(len(field)))
		_, _ = h.Write(field)
	}
	number(k.Seq)
	number(uint64(k.At.UnixNano()))
	number(uint64(k.Version))
	return [sha256.Size]byte(h.Sum(nil))
}

// seal is the entry, without its place in the chain, over entries of a journal
// that follow one another.
func seal(run agent.RunID, kept []agent.Kept) Entry {
	e := Entry{Kind: KindSeal, Run: run, From: kept[0].Seq, To: kept[len(kept)-1].Seq}
	all := sha256.New()
	sums := make([]byte, 0, sumBytes*len(kept))
	for _, k := range kept {
		d := digest(run, k)
		_, _ = all.Write(d[:])
		sums = append(sums, d[:sumBytes]...)
		if k.Kind == (agent.RunEnded{}).Kind() {
			e.Ended = k.At
		}
		if made, is := decision(k); is {
			e.Decisions = append(e.Decisions, made)
		}
	}
	e.Digest = hex.EncodeToString(all.Sum(nil))
	e.Sums = base64.RawStdEncoding.EncodeToString(sums)
	return e
}
