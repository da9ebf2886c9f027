package redis_test

// Journals that nothing may damage: a script that fails in its middle leaves
// what it wrote before, so that none may.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// sentTwice commits as the engine does after an error of the store: the same
// commit once more.
func sentTwice(t *testing.T, s *redis.Store, c agent.Commit) {
	t.Helper()
	first, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Errorf("commit: %v", err)
	}
	if again, err := s.Commit(t.Context(), c); err != nil || again.Seq != first.Seq || !again.At.Equal(first.At) {
		t.Errorf("the same commit again: %+v after %+v, %v", again, first, err)
	}
}

// whole wants the run's journal to have so many entries, and to be readable.
func whole(t *testing.T, s *redis.Store, client *goredis.Client, run agent.RunID, want int) {
	t.Helper()
	events, err := s.Read(t.Context(), run, 0)
	if err != nil || len(events) != want {
		t.Errorf("read %d events, %v; want %d", len(events), err, want)
	}
	keys, err := client.Keys(t.Context(), "deckhand:{*}:journal:"+string(run)).Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("journal of %s: %q, %v", run, keys, err)
	}
	if n, err := client.LLen(t.Context(), keys[0]).Result(); err != nil || n != int64(want) {
		t.Errorf("the journal's list has %d entries, %v; want %d", n, err, want)
	}
}

// TestAWriterThatMayNotPublishDamagesNothing takes the channels from the user
// that a store works as, while somebody awaits the run.
func TestAWriterThatMayNotPublishDamagesNothing(t *testing.T) {
	srv := redistest.Start(t)
	client := bare(t, srv)
	acl := func(rules ...any) {
		t.Helper()
		if err := client.Do(t.Context(), append([]any{"ACL", "SETUSER", "crew", "on", ">pw", "~deckhand:*", "+@all"}, rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	acl("&deckhand:*")
	s := open(t, redis.Config{URL: "redis://crew:pw@" + srv.Addr})
	run := begin(t, s)
	acl("resetchannels")
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		awaited := make(chan error, 1)
		go func() { awaited <- s.Await(ctx, run, uint64(1+i)) }()
		watched(t, client, run)
		sentTwice(t, s, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "news")}, Wake: map[agent.StrandID]time.Time{"task/a": agent.AtOnce}})
		if err := <-awaited; err != nil {
			t.Errorf("await: %v", err)
		}
		cancel()
	}
	whole(t, s, client, run, 4)
}

// watched waits until somebody awaits the run.
func watched(t *testing.T, client *goredis.Client, run agent.RunID) {
	t.Helper()
	keys, err := client.Keys(t.Context(), "deckhand:{*}:run:"+string(run)).Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("run %s: %q, %v", run, keys, err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		if is, err := client.HExists(t.Context(), keys[0], "watched").Result(); err == nil && is {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody awaits the run")
		}
	}
}

// TestAHalfWrittenTailHeals puts entries behind the journal's head, as a script
// leaves that breaks off.
func TestAHalfWrittenTailHeals(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL}), bare(t, srv)
	run := begin(t, s)
	tail := func(run agent.RunID, seq int) {
		t.Helper()
		keys, err := client.Keys(t.Context(), "deckhand:{*}:journal:"+string(run)).Result()
		if err != nil || len(keys) != 1 {
			t.Fatalf("journal of %s: %q, %v", run, keys, err)
		}
		for i := range 3 {
			line := fmt.Sprintf(`{"seq":%d,"at":1,"strand":"main","kind":"person.said","v":1,"body":{"by":"terminal","text":"orphan","trusted":true}}`, seq+i%2)
			if err := client.RPush(t.Context(), keys[0], line).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	tail(run, 2)
	if events, err := s.Read(t.Context(), run, 0); err != nil || len(events) != 1 {
		t.Errorf("read %d events, %v; want the one that was committed", len(events), err)
	}
	sentTwice(t, s, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "heals")}})
	whole(t, s, client, run, 2)

	// The very first commit may break off as well.
	fresh := agent.Commit{ID: agent.NewID(), Run: begin(t, s), Events: []agent.Event{opens()}}
	tail(fresh.Run, 2)
	keys, err := client.Keys(t.Context(), "deckhand:{*}:run:"+string(fresh.Run)).Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("run: %q, %v", keys, err)
	}
	if err := client.Del(t.Context(), keys[0]).Err(); err != nil {
		t.Fatal(err)
	}
	sentTwice(t, s, fresh)
	whole(t, s, client, fresh.Run, 1)
}

// TestAShortJournalIsDamaged takes an entry away: whatever is appended would be
// at a wrong place.
func TestAShortJournalIsDamaged(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL}), bare(t, srv)
	run := begin(t, s)
	sentTwice(t, s, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "goes")}})
	keys, err := client.Keys(t.Context(), "deckhand:{*}:journal:"+string(run)).Result()
	if err != nil || len(keys) != 1 || client.RPop(t.Context(), keys[0]).Err() != nil {
		t.Fatalf("journal: %q, %v", keys, err)
	}
	if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "no")}}); !errors.Is(err, agent.ErrDamaged) {
		t.Errorf("commit: %v, want ErrDamaged", err)
	}
	var entry *agent.EntryError
	if events, err := s.Read(t.Context(), run, 0); !errors.As(err, &entry) || entry.Seq != 2 || !errors.Is(err, agent.ErrDamaged) || len(events) != 1 {
		t.Errorf("read %d events, %v; want one and entry 2 to be damaged", len(events), err)
	}
}

// TestADamagedRunIsItsOwnTrouble damages what is stored of one run: the others
// are listed and claimed.
func TestADamagedRunIsItsOwnTrouble(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL, Shards: 1}), bare(t, srv)
	bad := begin(t, s)
	for field, value := range map[string]string{"head": "many", "started": "early", "strand:main": "x", "needs": "y"} {
		if err := client.HSet(t.Context(), "deckhand:{0}:run:"+string(bad), field, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	other := begin(t, s)
	if err := client.Del(t.Context(), "deckhand:{0}:run:"+string(other)).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.Set(t.Context(), "deckhand:{0}:run:"+string(other), "no hash", 0).Err(); err != nil {
		t.Fatal(err)
	}
	good := begin(t, s)
	infos, err := s.Runs(t.Context(), agent.RunFilter{})
	if err != nil || len(infos) != 3 {
		t.Errorf("runs: %+v, %v; want all three", infos, err)
	}
	for _, info := range infos {
		if (info.Run == good) != (info.Length == 1 && !info.Started.IsZero()) {
			t.Errorf("run %+v", info)
		}
	}
	var entry *agent.EntryError
	if _, err := s.Read(t.Context(), bad, 0); !errors.As(err, &entry) || !errors.Is(err, agent.ErrDamaged) {
		t.Errorf("read: %v, want an EntryError", err)
	}
	if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: bad, Events: []agent.Event{said(agent.Main, "no")}}); !agent.Permanent(err) {
		t.Errorf("commit: %v, want an error that lasts", err)
	}
	if got, err := s.Claim(t.Context(), 10, 0, ""); err != nil || len(got) != 1 || got[0].Run != good {
		t.Errorf("claimed %+v, %v; want the good run", got, err)
	}
}

// TestManyStrandsInOneCommit opens and ends a run of more strands than Lua's
// stack holds arguments.
func TestManyStrandsInOneCommit(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL}), bare(t, srv)
	run := begin(t, s)
	held := claimOne(t, s, run, 0)
	const strands = 9000
	wakes := map[agent.StrandID]time.Time{}
	var words []agent.Event
	for i := range strands {
		task := agent.TaskStrand(agent.TaskID(strconv.Itoa(i)))
		wakes[task] = agent.AtOnce
		words = append(words, said(task, "at work"))
	}
	sentTwice(t, s, agent.Commit{ID: agent.NewID(), Run: run, Lease: &held, Seen: 1, Events: words, Wake: wakes})
	held.Turn++
	whole(t, s, client, run, 1+strands)
	sentTwice(t, s, agent.Commit{
		ID: agent.NewID(), Run: run, Lease: &held, Seen: 1 + strands, Ends: true, Wake: map[agent.StrandID]time.Time{agent.Main: agent.Parked},
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunEnded{State: agent.RunDone}}},
	})
	whole(t, s, client, run, 2+strands)
	if got, err := s.Claim(t.Context(), 1, 0, ""); err != nil || len(got) != 0 {
		t.Errorf("claimed %+v, %v; want nothing of a run that ended", got, err)
	}
}

// TestAKeyOfAnotherTypeBreaksNoCommit puts a string where each of the other
// keys of a commit should be.
func TestAKeyOfAnotherTypeBreaksNoCommit(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL, Shards: 1}), bare(t, srv)
	for _, key := range []string{"deckhand:{0}:due", "deckhand:{0}:ended", "deckhand:names", "deckhand:{counter/c}"} {
		t.Run(key, func(t *testing.T) {
			run := begin(t, s)
			held := claimOne(t, s, run, 0)
			kept, err := client.Dump(t.Context(), key).Result()
			if err != nil && !errors.Is(err, goredis.Nil) {
				t.Fatal(err)
			}
			if err := errors.Join(client.Del(t.Context(), key).Err(), client.Set(t.Context(), key, "not what it was", 0).Err()); err != nil {
				t.Fatal(err)
			}
			c := agent.Commit{
				ID: agent.NewID(), Run: run, Lease: &held, Seen: 1, Ends: true, Wake: map[agent.StrandID]time.Time{agent.Main: agent.Parked},
				Events: []agent.Event{{Strand: agent.Main, Body: agent.RunEnded{State: agent.RunDone}}},
				Set:    map[string]string{"name": string(run)}, Spend: []agent.Spend{{Counter: "c", Nano: 1}},
			}
			for range 3 {
				if _, err := s.Commit(t.Context(), c); err == nil {
					t.Error("committed")
				}
			}
			whole(t, s, client, run, 1)
			if err := client.Del(t.Context(), key).Err(); err != nil {
				t.Fatal(err)
			}
			if kept != "" {
				if err := client.Restore(t.Context(), key, 0, kept).Err(); err != nil {
					t.Fatal(err)
				}
			}
			sentTwice(t, s, c)
			whole(t, s, client, run, 2)
		})
	}
}
