package redis_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// query asks the master of the command's first key.
func query(t *testing.T, c *redistest.Cluster, args ...any) any {
	t.Helper()
	reply, err := c.Master(fmt.Sprint(args[1])).Query(args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return reply
}

// TestOldClusterIsTakenOver makes of a Cluster's data what the release before
// this layout left: all names in one key, and once-keys in slots of their own.
func TestOldClusterIsTakenOver(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	config := redis.Config{URL: c.URL, Lease: time.Second}
	s := open(t, config)
	var runs []agent.RunID
	for shard := range shards {
		runs = append(runs, runIn(shard))
		if _, err := s.Commit(t.Context(), opening(runs[shard])); err != nil {
			t.Fatal(err)
		}
	}
	const names = 700 // more than one page
	for i := range names {
		name, value := fmt.Sprintf("thread/slack:T:C:%d", i), string(runs[i%shards])
		query(t, c, "ZADD", "deckhand:names", 0, "n"+name+"\x00"+value, 0, "v"+value+"\x00"+name)
	}
	query(t, c, "SET", "deckhand:once:used", "attempt", "EX", 7*24*3600)
	query(t, c, "SET", "deckhand:once:held", "attempt", "EX", 20)
	query(t, c, "HSET", "deckhand:meta", "layout", "1")
	heard := func(ago time.Duration) {
		for shard := range shards {
			query(t, c, "SET", fmt.Sprintf("deckhand:{%d}:alive", shard), fmt.Sprint(time.Now().Add(-ago).UnixMicro(), " 0"))
		}
	}

	heard(10 * time.Second)
	rejected(t, config, redis.ErrLayout, "stop all replicas of that release")
	if layout := query(t, c, "HGET", "deckhand:meta", "layout"); layout != "1" {
		t.Fatalf("the layout is %v after a refusal", layout)
	}

	heard(time.Minute)
	query(t, c, "SET", "deckhand:meta:mover", "1", "EX", 60)
	rejected(t, config, redis.ErrLayout, "another replica moves its names")
	query(t, c, "DEL", "deckhand:meta:mover")
	// Somebody began to move and died; one name was given a new value since.
	query(t, c, "HSET", "deckhand:meta", "layout", "2", "moving", "1", "moved", time.Now().UnixMicro())
	if err := s.SetValue(t.Context(), "thread/slack:T:C:0", "newer"); err != nil {
		t.Fatal(err)
	}

	for range 2 { // the second finds it done
		now := open(t, config)
		all, err := now.Values(t.Context(), "thread/")
		if err != nil || len(all) != names || all["thread/slack:T:C:0"] != "newer" {
			t.Fatalf("%d names, %q, %v", len(all), all["thread/slack:T:C:0"], err)
		}
		for i := 1; i < names; i++ {
			name := fmt.Sprintf("thread/slack:T:C:%d", i)
			if got, err := now.Value(t.Context(), name); err != nil || got != string(runs[i%shards]) {
				t.Fatalf("%s is %q, %v", name, got, err)
			}
		}
		for key, want := range map[string]error{"used": agent.ErrSeen, "held": agent.ErrBusy, "new": nil} {
			fact := agent.Commit{ID: agent.NewID(), Run: runs[3], Once: []string{key}, Anchor: "a", Events: []agent.Event{said(agent.Main, key)}}
			if _, err := now.Commit(t.Context(), fact); !errors.Is(err, want) && key != "new" {
				t.Fatalf("once-key %s: %v, want %v", key, err, want)
			}
		}
		if left := query(t, c, "EXISTS", "deckhand:names"); left != int64(0) {
			t.Fatal("the old names are still there")
		}
	}
	if events, err := s.Read(t.Context(), runs[3], 0); err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v; want the first and one word", len(events), err)
	}
}
