package audit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/audit"
)

func TestExport(t *testing.T) {
	b := sqliteBed(t)
	run := worked(t, b.store)
	var words []string
	about := 0
	err := audit.Export(t.Context(), b.store, time.Time{}, func(r audit.Record) error {
		words = append(words, r.Words())
		if r.Kind == string(audit.ByPerson) && r.About != nil && r.About.Tool == "write_to_file" && len(r.About.Arguments) == 64 && r.About.Bound == "d" {
			about++
		}
		return nil
	})
	all := strings.Join(words, "\n")
	if err != nil || about != 1 {
		t.Fatalf("%d decisions know their question, %v:\n%s", about, err, all)
	}
	for _, want := range []string{
		string(run) + " #1  slack:U1 began a run, autonomy ask-each", "#2  asked people: approval · write_to_file · arguments ",
		"#3  slack:U1: approve (approval · write_to_file · arguments ", "#4  allowed by rule approved by slack:U1 · write_to_file", "#5  denied by rule suggest",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in:\n%s", want, all)
		}
	}
	for by, want := range map[string]int{"slack:U1": 1, "slack:U2": 0} {
		if lines, err := audit.Decisions(t.Context(), b.store, by, 10); err != nil || len(lines) != want {
			t.Errorf("decisions of %s: %q, %v", by, lines, err)
		}
	}
}

// Two processes seal one store, and what a third left unsealed is found.
func TestSweep(t *testing.T) {
	for kind, open := range beds(t) {
		t.Run(kind, func(t *testing.T) {
			b := open(t)
			first := worked(t, b.store)
			left := worked(t, b.store)
			if err := b.store.SetValue(t.Context(), "audit/"+string(left), ""); err != nil { // as if nobody had sealed it
				t.Fatal(err)
			}
			done := make(chan error)
			for range 2 {
				go func() { done <- audit.NewSealer(b.store, log()).Sweep(t.Context()) }()
			}
			for range 2 {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			if v := verify(t, b.store); len(v.Findings) > 0 || v.Runs != 2 {
				t.Fatalf("%s, %s: %+v", first, left, v)
			}
		})
	}
}

// Runs that expire leave the chain whole; one that goes before its time does not.
func TestRetention(t *testing.T) {
	b := sqliteBed(t)
	run := worked(t, b.store)
	ended(t, b.store, run)
	now, err := b.store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := audit.Expiring(t.Context(), b.store, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := b.store.Expire(t.Context(), now.Add(time.Second)); err != nil || n != 1 {
		t.Fatalf("%d runs expired, %v", n, err)
	}
	if v := verify(t, b.store); len(v.Findings) > 0 || len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "1 sealed runs have expired") {
		t.Fatalf("%+v", v)
	}
	if err := audit.Expiring(t.Context(), b.store, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	end, err := b.store.TrailEnd(t.Context())
	if err != nil || end != 8 { // nothing expires, nothing is noted
		t.Fatalf("the chain ends at %d, %v", end, err)
	}
}

func TestConfigured(t *testing.T) {
	b := sqliteBed(t)
	for _, values := range []map[string]string{{"a": "1", "b": "2"}, {"a": "1", "b": "2"}, {"a": "3", "c": "4"}} {
		if err := audit.Configured(t.Context(), b.store, values); err != nil {
			t.Fatal(err)
		}
	}
	var changed map[string]string
	n := 0
	if err := audit.Export(t.Context(), b.store, time.Time{}, func(r audit.Record) error {
		changed = r.Facts
		n++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n != 3 || len(changed) != 3 || changed["a"] != "1 → 3" || changed["b"] != "2 → nothing" || changed["c"] != "nothing → 4" {
		t.Fatalf("%d entries, the last: %v", n, changed)
	}
}
