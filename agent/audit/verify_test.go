package audit_test

// The chain on real stores, and what somebody may do to it.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
	store "github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// bed is a store with ways to change what it keeps behind its back.
type bed struct {
	store  full
	change func(run agent.RunID, seq uint64) // the body of a journal's entry
	cut    func(run agent.RunID)             // the last entry of a journal
	drop   func(run agent.RunID)             // the whole run
	edit   func(n uint64, line string)       // a line of the chain; empty: it is removed
	end    func(n uint64)                    // the chain ends there
}

type full interface {
	agent.Store
	agent.Archive
	agent.Trail
}

func beds(t *testing.T) map[string]func(t *testing.T) bed {
	t.Helper()
	server := redistest.Start(t)
	return map[string]func(t *testing.T) bed{"sqlite": sqliteBed, "redis": func(t *testing.T) bed {
		t.Helper()
		if _, err := server.Query("FLUSHALL"); err != nil {
			t.Fatal(err)
		}
		return redisBed(t, server.URL)
	}}
}

func sqliteBed(t *testing.T) bed {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	do := func(query string, args ...any) {
		t.Helper()
		db, err := sql.Open("sqlite", filepath.Join(dir, "deckhand.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	return bed{
		store: s,
		change: func(run agent.RunID, seq uint64) {
			do("UPDATE journal SET body = replace(body, 'slack:U1', 'slack:U2') WHERE run = ? AND seq = ?", string(run), seq)
		},
		cut: func(run agent.RunID) {
			do("DELETE FROM journal WHERE run = ? AND seq = (SELECT max(seq) FROM journal WHERE run = ?)", string(run), string(run))
		},
		drop: func(run agent.RunID) { do("DELETE FROM runs WHERE run = ?", string(run)) },
		edit: func(n uint64, line string) {
			if line == "" {
				do("DELETE FROM trail WHERE n = ?", n)
				return
			}
			do("UPDATE trail SET line = ? WHERE n = ?", line, n)
		},
		end: func(n uint64) { do("DELETE FROM trail WHERE n > ?", n) },
	}
}

func redisBed(t *testing.T, url string) bed {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: url, Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	do := func(args ...any) any {
		t.Helper()
		reply, err := c.Do(context.WithoutCancel(t.Context()), args...).Result()
		if err != nil {
			t.Fatal(args, err)
		}
		return reply
	}
	const trail = "deckhand:{trail}"
	journal := func(run agent.RunID) string { return "deckhand:{0}:journal:" + string(run) }
	return bed{
		store: s,
		change: func(run agent.RunID, seq uint64) {
			line, _ := do("LINDEX", journal(run), seq-1).(string)
			do("LSET", journal(run), seq-1, strings.ReplaceAll(line, "slack:U1", "slack:U2"))
		},
		cut: func(run agent.RunID) {
			n, _ := do("LLEN", journal(run)).(int64)
			do("RPOP", journal(run))
			head, _ := do("HGET", "deckhand:{0}:run:"+string(run), "head").(string)
			_, at, _ := strings.Cut(head, " ")
			do("HSET", "deckhand:{0}:run:"+string(run), "head", fmt.Sprint(n-1, " ", at))
		},
		drop: func(run agent.RunID) {
			do("DEL", "deckhand:{0}:run:"+string(run), journal(run))
			do("ZREM", "deckhand:{0}:runs", string(run))
		},
		edit: func(n uint64, line string) {
			if line == "" {
				do("HDEL", trail, n)
				return
			}
			do("HSET", trail, n, line)
		},
		end: func(n uint64) { do("HSET", trail, "end", n) },
	}
}

func log() *slog.Logger { return slog.New(slog.DiscardHandler) }

// worked is a run with decisions of people and of a policy, sealed.
func worked(t *testing.T, s full) agent.RunID {
	t.Helper()
	run := agent.RunID(agent.NewID())
	sealer := audit.NewSealer(s, log())
	for _, events := range [][]agent.Body{
		{agent.RunStarted{Goal: "test", Requester: "slack:U1", Autonomy: agent.AskEach}},
		{agent.CheckpointOpened{ID: agent.CheckpointID(run + "-a"), Ask: agent.CheckApproval, Tool: "write_to_file",
			Arguments: []byte(`{"path":"a"}`), Digest: "d", Choices: []string{agent.DecideApprove, agent.DecideDeny}}},
		{agent.CheckpointDecided{ID: agent.CheckpointID(run + "-a"), Decision: agent.DecideApprove, By: "slack:U1"}},
		{agent.ToolIntent{Effect: "e1", Tool: "write_to_file", Arguments: []byte(`{"path":"a"}`), Repeat: agent.RepeatIdempotent, Rule: "approved by slack:U1"}},
		{agent.CallReplied{Effect: "e2", Text: "denied by policy (suggest): this run may only suggest"}},
	} {
		c := agent.Commit{ID: agent.NewID(), Run: run}
		for _, b := range events {
			c.Events = append(c.Events, agent.Event{Strand: agent.Main, Body: b})
		}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		sealer.Wrote(c)
		if err := sealer.Seal(t.Context(), time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

// ended ends the run and seals that.
func ended(t *testing.T, s full, run agent.RunID) {
	t.Helper()
	c := agent.Commit{ID: agent.NewID(), Run: run, Ends: true, Events: []agent.Event{{Strand: agent.Main, Body: agent.RunEnded{State: agent.RunDone}}}}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	sealer := audit.NewSealer(s, log())
	sealer.Wrote(c)
	if err := sealer.Seal(t.Context(), time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, s full, anchors ...audit.Anchor) audit.Verdict {
	t.Helper()
	v, err := audit.Check{Store: s, Anchors: anchors, Kept: time.Hour}.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// anchored is an anchor at the chain's end.
func anchored(t *testing.T, s full) audit.Anchor {
	t.Helper()
	var out strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the last words alone
	(&audit.Anchors{Store: s, To: audit.Stdout, Every: time.Hour, Out: &out, Log: log()}).Run(ctx)
	list, err := audit.ReadAnchors(strings.NewReader("a line of a log\n" + out.String()))
	if err != nil || len(list) != 1 {
		t.Fatalf("anchors in %q: %v, %v", out.String(), list, err)
	}
	return list[0]
}

func TestTampering(t *testing.T) {
	var anchor audit.Anchor
	tests := []struct {
		name string
		do   func(t *testing.T, b bed, run agent.RunID)
		want audit.FindingKind
		at   string // what the finding names
		seen bool   // only with the anchor
	}{
		{"nothing", func(*testing.T, bed, agent.RunID) {}, "", "", false},
		{"a decision is another person's", func(_ *testing.T, b bed, run agent.RunID) { b.change(run, 3) }, audit.Changed, "entry 3 of run", false},
		{"the first entry is changed", func(_ *testing.T, b bed, run agent.RunID) { b.change(run, 1) }, audit.Changed, "entry 1 of run", false},
		{"the end of a journal is cut", func(_ *testing.T, b bed, run agent.RunID) { b.cut(run) }, audit.Cut, "has 4 entries and had 5", false},
		{"a run is removed", func(_ *testing.T, b bed, run agent.RunID) { b.drop(run) }, audit.Removed, "removed from the store before its time", false},
		{"a line of the chain is changed", func(t *testing.T, b bed, _ agent.RunID) {
			lines, err := b.store.ReadTrail(t.Context(), 3, 1)
			if err != nil {
				t.Fatal(err)
			}
			b.edit(4, strings.ReplaceAll(lines[0], "slack:U1", "slack:U2"))
		}, audit.Changed, "entry 4 of the chain", false},
		{"a line of the chain is removed", func(_ *testing.T, b bed, _ agent.RunID) { b.edit(3, "") }, audit.Removed, "entry 3 of the chain is missing", false},
		{"the last line of the chain is changed", func(t *testing.T, b bed, _ agent.RunID) {
			lines, err := b.store.ReadTrail(t.Context(), 5, 1)
			if err != nil {
				t.Fatal(err)
			}
			b.edit(6, strings.ReplaceAll(lines[0], "suggest", "nothing"))
		}, audit.Changed, "entry 6, the last", false},
		{"the end of the chain is cut", func(_ *testing.T, b bed, _ agent.RunID) { b.end(4) }, audit.Cut, "ends at entry 4 and had 6", false},
		{"the end is cut, and what the store knows of it", func(t *testing.T, b bed, run agent.RunID) {
			b.end(4)
			for _, name := range []string{"audit.head", "audit/" + string(run)} {
				if err := b.store.SetValue(t.Context(), name, ""); err != nil {
					t.Fatal(err)
				}
			}
		}, audit.Cut, "the anchor of", true},
		{"the end is cut and Deckhand goes on", func(t *testing.T, b bed, _ agent.RunID) {
			b.end(4)
			worked(t, b.store)
		}, audit.Cut, "it had 6 entries", false},
		{"a whole new chain", func(t *testing.T, b bed, run agent.RunID) {
			b.end(0)
			for _, name := range []string{"audit.head", "audit/" + string(run)} {
				if err := b.store.SetValue(t.Context(), name, ""); err != nil {
					t.Fatal(err)
				}
			}
			for n := range uint64(6) {
				b.edit(n+1, "")
			}
			if err := audit.NewSealer(b.store, log()).Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}, audit.Foreign, "another chain", true},
	}
	for kind, open := range beds(t) {
		for _, tt := range tests {
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				b := open(t)
				run := worked(t, b.store)
				anchor = anchored(t, b.store)
				if v := verify(t, b.store, anchor); len(v.Findings) > 0 || v.Entries != 6 || v.Decisions != 5 || len(v.Notes) > 0 {
					t.Fatalf("before: %+v", v)
				}
				tt.do(t, b, run)
				v := verify(t, b.store)
				if tt.seen {
					if len(v.Findings) > 0 {
						t.Fatalf("without the anchor: %+v", v)
					}
					v = verify(t, b.store, anchor)
				}
				if tt.want == "" {
					if len(v.Findings) > 0 {
						t.Fatalf("found %+v", v.Findings)
					}
					return
				}
				if len(v.Findings) == 0 || v.Findings[0].Kind != tt.want || !strings.Contains(v.Findings[0].Text, tt.at) {
					t.Fatalf("found %+v, want %s: … %s …", v.Findings, tt.want, tt.at)
				}
			})
		}
	}
}

// The chain's beginning is taken out at an anchor, and the rest is still proved; who
// takes it out otherwise is found.
func TestCut(t *testing.T) {
	for kind, open := range beds(t) {
		t.Run(kind, func(t *testing.T) {
			b := open(t)
			gone := worked(t, b.store)
			ended(t, b.store, gone)
			first := anchored(t, b.store)
			if _, err := b.store.Expire(t.Context(), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			kept := worked(t, b.store)
			second := anchored(t, b.store)
			anchors, lines := []audit.Anchor{first, second}, []string{}
			cut := audit.Cutting{Check: audit.Check{Store: b.store, Anchors: anchors}, Before: time.Now().Add(time.Hour),
				Keep: func(l []string) error { lines = append(lines, l...); return nil },
				Sign: func(a audit.Anchor) error { anchors = append(anchors, a); return nil }}
			at, err := cut.Cut(t.Context())
			if err != nil || at.N != first.N || uint64(len(lines)) != first.N || len(anchors) != 3 || !anchors[2].Cut {
				t.Fatalf("cut at %+v, %v; %d lines were kept, anchors %+v", at, err, len(lines), anchors)
			}
			if left, err := b.store.ReadTrail(t.Context(), first.N, 100); err != nil || len(left) == 0 || left[0] == "" {
				t.Fatalf("what follows: %q, %v", left, err)
			}
			for _, with := range [][]audit.Anchor{nil, anchors} {
				if v := verify(t, b.store, with...); len(v.Findings) > 0 || len(v.Notes) == 0 || !strings.Contains(v.Notes[0], "were taken out") {
					t.Fatalf("after the cut, %d anchors: %+v", len(with), v)
				}
			}
			if v := verify(t, b.store, first, second); len(v.Findings) == 0 || !strings.Contains(v.Findings[0].Text, "no anchor signs that off") {
				t.Fatalf("not signed off: %+v", v)
			}
			exported := 0
			if err := audit.Export(t.Context(), b.store, time.Time{}, func(audit.Record) error { exported++; return nil }); err != nil || exported == 0 {
				t.Fatalf("exported %d: %v", exported, err)
			}
			if _, err := cut.Cut(t.Context()); !errors.Is(err, audit.ErrNoCut) { // what is left seals a run that is kept
				t.Fatalf("cut again: %v", err)
			}
			b.change(kept, 3)
			if v := verify(t, b.store, anchors...); len(v.Findings) == 0 || v.Findings[0].Kind != audit.Changed {
				t.Fatalf("a change after the cut: %+v", v)
			}
		})
		t.Run(kind+"/by somebody else", func(t *testing.T) {
			b := open(t)
			worked(t, b.store)
			anchor := anchored(t, b.store)
			for n := range uint64(3) {
				b.edit(n+1, "")
			}
			lines, err := b.store.ReadTrail(t.Context(), 3, 1)
			if err != nil {
				t.Fatal(err)
			}
			var next struct{ Prev string }
			if err := json.Unmarshal([]byte(lines[0]), &next); err != nil {
				t.Fatal(err)
			}
			if v := verify(t, b.store); len(v.Findings) == 0 {
				t.Fatal("missing entries are not found")
			}
			if err := b.store.SetValue(t.Context(), "audit.cut", "3 "+next.Prev+" "+anchor.Chain); err != nil {
				t.Fatal(err)
			}
			if v := verify(t, b.store); len(v.Findings) == 0 || v.Findings[0].Kind != audit.Removed {
				t.Fatalf("%+v", v)
			}
		})
	}
}
