package storetest

// This file tests records: written where their condition holds, in one step or
// not at all, read in the order of their writes, and gone when they are removed.

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/deckhand-bot/deckhand/agent"
)

var recordTests = []test{
	{"an empty store has none", noRecords},
	{"records are read in the order of their writes", recordOrder},
	{"a write is applied where its condition holds", recordCondition},
	{"a removed record has no data and does not come back by itself", recordRemoved},
	{"any bytes are kept", recordBytes},
	{"what is no record is refused whole", badRecords},
	{"a long list is read in parts", manyRecords},
	{"of many that write the same one does", recordCrowd},
	{"records outlive the process", recordsReopened},
}

// wrote writes records and wants to hear which were written.
func (b *bed) wrote(s Store, want []bool, writes ...agent.RecordWrite) {
	b.Helper()
	got, err := s.WriteRecords(b.Context(), writes)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		b.Fatalf("write %+v: %v (-want +got)\n%s", writes, err, diff)
	}
}

// records wants the store to have just these after the seq: "ID=DATA", and
// returns the seqs.
func (b *bed) records(s Store, after uint64, want ...string) []uint64 {
	b.Helper()
	rows, state, err := s.ReadRecords(b.Context(), after, 0)
	if err != nil {
		b.Fatalf("read records: %v", err)
	}
	var got []string
	var seqs []uint64
	last := after
	for _, r := range rows {
		if r.Seq <= last || r.Seq > state.Head {
			b.Fatalf("the record %s has seq %d after %d, the head is %d", r.ID, r.Seq, last, state.Head)
		}
		last = r.Seq
		got, seqs = append(got, r.ID+"="+string(r.Data)), append(seqs, r.Seq)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		b.Fatalf("records after %d (-want +got)\n%s", after, diff)
	}
	return seqs
}

func record(id, data string, seen uint64) agent.RecordWrite {
	return agent.RecordWrite{ID: id, Data: []byte(data), Seen: seen}
}

func noRecords(b *bed) {
	rows, state, err := b.Store.ReadRecords(b.Context(), 0, 0)
	if err != nil || len(rows) > 0 || state != (agent.RecordState{}) {
		b.Fatalf("an empty store: %+v, %+v, %v", rows, state, err)
	}
	b.wrote(b.Store, nil)
}

func recordOrder(b *bed) {
	other := b.Beside(b.T)
	b.wrote(b.Store, []bool{true, true}, record("b", "1", 0), record("a", "2", 0))
	b.wrote(other, []bool{true}, record("c", "3", 0))
	seqs := b.records(b.Store, 0, "b=1", "a=2", "c=3")
	b.wrote(b.Store, []bool{true}, record("b", "4", agent.AnyRecord))
	for _, s := range []Store{b.Store, other} {
		b.records(s, 0, "a=2", "c=3", "b=4")
		b.records(s, seqs[2], "b=4")
	}
	if _, state, err := other.ReadRecords(b.Context(), 0, 1); err != nil || state.Live != 3 {
		b.Fatalf("the state is %+v, %v; want 3 records", state, err)
	}
}

func recordCondition(b *bed) {
	b.wrote(b.Store, []bool{true}, record("a", "1", 0))
	seq := b.records(b.Store, 0, "a=1")[0]
	b.wrote(b.Store, []bool{false, true}, record("a", "again", 0), record("b", "1", 0))
	b.wrote(b.Store, []bool{false}, record("a", "elsewhere", seq+100))
	b.wrote(b.Store, []bool{true}, record("a", "2", seq))
	b.wrote(b.Store, []bool{false}, record("a", "3", seq))
	b.records(b.Store, 0, "b=1", "a=2")
}

func recordRemoved(b *bed) {
	b.wrote(b.Store, []bool{true, true}, record("a", "1", 0), record("b", "2", 0))
	b.wrote(b.Store, []bool{true}, record("a", "", agent.AnyRecord))
	b.records(b.Store, 0, "b=2", "a=")
	if _, state, err := b.Store.ReadRecords(b.Context(), 0, 0); err != nil || state.Live != 1 {
		b.Fatalf("the state is %+v, %v; want 1 record", state, err)
	}
	b.wrote(b.Store, []bool{false}, record("a", "1", 0))
	b.wrote(b.Store, []bool{true}, record("a", "told anew", agent.AnyRecord))
	b.records(b.Beside(b.T), 0, "b=2", "a=told anew")
}

func recordBytes(b *bed) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	id := "scope/日本 \U0001f30d%_*"
	b.wrote(b.Store, []bool{true, true}, agent.RecordWrite{ID: id, Data: all}, agent.RecordWrite{ID: "large", Data: bytes.Repeat([]byte("x"), 1<<20)})
	rows, _, err := b.Beside(b.T).ReadRecords(b.Context(), 0, 0)
	if err != nil || len(rows) != 2 || rows[0].ID != id || !bytes.Equal(rows[0].Data, all) || len(rows[1].Data) != 1<<20 {
		b.Fatalf("read %d records, %v", len(rows), err)
	}
}

func badRecords(b *bed) {
	good := record("good", "1", 0)
	for what, bad := range map[string]agent.RecordWrite{
		"no id": record("", "1", 0), "a long id": record(strings.Repeat("i", 600), "1", 0), "the same id": good,
		"no UTF-8": record("\xff", "1", 0), "too much": {ID: "huge", Data: make([]byte, 5<<20)},
	} {
		if _, err := b.Store.WriteRecords(b.Context(), []agent.RecordWrite{good, bad}); !agent.Permanent(err) {
			b.Errorf("%s: %v; want an error that lasts", what, err)
		}
	}
	b.records(b.Store, 0)
}

func manyRecords(b *bed) {
	const n = 2503
	writes := make([]agent.RecordWrite, n)
	for i := range writes {
		writes[i] = record(strconv.Itoa(i), fmt.Sprint("data ", i), 0)
	}
	if _, err := b.Store.WriteRecords(b.Context(), writes); err != nil {
		b.Fatal(err)
	}
	got, after := 0, uint64(0)
	for {
		rows, state, err := b.Store.ReadRecords(b.Context(), after, 1200)
		if err != nil || state.Live != n || len(rows) > 1200 {
			b.Fatalf("read %d records, state %+v, %v", len(rows), state, err)
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			if r.ID != strconv.Itoa(got) {
				b.Fatalf("record %d is %s", got, r.ID)
			}
			got++
		}
		after = rows[len(rows)-1].Seq
	}
	if got != n {
		b.Fatalf("read %d of %d records", got, n)
	}
}

func recordCrowd(b *bed) {
	handles := []Store{b.Store, b.Beside(b.T)}
	won := make([]int, 8)
	b.together(len(won), func(ctx context.Context, i int) error {
		for turn := range 5 {
			applied, err := handles[i%2].WriteRecords(ctx, []agent.RecordWrite{record(fmt.Sprint("fact", turn), "the same", 0)})
			if err != nil {
				return err
			}
			if applied[0] {
				won[i]++
			}
		}
		return nil
	})
	sum := 0
	for _, n := range won {
		sum += n
	}
	if sum != 5 {
		b.Fatalf("%d writes of 5 records were applied", sum)
	}
}

func recordsReopened(b *bed) {
	b.wrote(b.Store, []bool{true, true}, record("a", "1", 0), record("b", "2", 0))
	b.wrote(b.Store, []bool{true}, record("b", "", agent.AnyRecord))
	head := b.records(b.Store, 0, "a=1", "b=")[1]
	s := b.Reopen(b.T)
	b.wrote(s, []bool{true}, record("c", "3", 0))
	b.records(s, head, "c=3")
}
