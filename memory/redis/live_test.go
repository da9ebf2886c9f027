package redis_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// startRuns starts runs; endRuns ends some.
func startRuns(t *testing.T, s *redis.Store, n int) []agent.RunID {
	t.Helper()
	runs := make([]agent.RunID, n)
	for i := range runs {
		runs[i] = agent.RunID(agent.NewID())
		c := agent.Commit{ID: agent.NewID(), Run: runs[i], Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "test", Requester: "terminal"}}}}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return runs
}

func endRuns(t *testing.T, s *redis.Store, runs ...agent.RunID) {
	t.Helper()
	for _, run := range runs {
		if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Ends: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOlderReplicasDoNotHideRuns does to the index of live runs what replicas
// of a build do that does not know it: those that were there before, and those
// that start, end and remove runs beside.
func TestOlderReplicasDoNotHideRuns(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, redis.Config{URL: srv.URL})
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer func() { _ = client.Close() }()
	live := func(what string, want ...agent.RunID) {
		t.Helper()
		var got []agent.RunID
		infos, err := s.Runs(t.Context(), agent.RunFilter{Live: true})
		for _, info := range infos {
			got = append(got, info.Run)
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", what, err, diff)
		}
		if n, err := s.CountRuns(t.Context(), agent.RunFilter{Live: true}); err != nil || n != len(want) {
			t.Errorf("%s: counted %d, %v", what, n, err)
		}
	}
	index := func(run agent.RunID) (key string, started float64) {
		t.Helper()
		keys, err := client.Keys(t.Context(), "deckhand:{*}:run:"+string(run)).Result()
		if err != nil || len(keys) != 1 {
			t.Fatalf("run %s: %q, %v", run, keys, err)
		}
		shard, _, _ := strings.Cut(keys[0], "run:")
		started, err = client.ZScore(t.Context(), shard+"runs", string(run)).Result()
		if err != nil {
			t.Fatal(err)
		}
		return shard + "live", started
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	runs := startRuns(t, s, 40)
	endRuns(t, s, runs[:30]...)
	for _, run := range runs { // as the older build left it
		key, _ := index(run)
		do(client.Del(t.Context(), key).Err())
	}
	live("before the first list", runs[30:]...)

	key, _ := index(runs[35])
	do(client.ZRem(t.Context(), key, string(runs[35])).Err())
	live("started by an older replica", runs[30:]...)

	key, started := index(runs[36])
	endRuns(t, s, runs[36])
	do(client.ZAdd(t.Context(), key, goredis.Z{Score: started, Member: string(runs[36])}).Err())
	live("ended by an older replica", slices.Delete(slices.Clone(runs[30:]), 6, 7)...)

	key, started = index(runs[0])
	n, err := s.Expire(t.Context(), time.Now().Add(time.Hour))
	if err != nil || n != 31 {
		t.Fatalf("expired %d, %v", n, err)
	}
	do(client.ZAdd(t.Context(), key, goredis.Z{Score: started, Member: string(runs[0])}).Err())
	live("removed by an older replica", slices.Delete(slices.Clone(runs[30:]), 6, 7)...)
}

// TestListsReadWhatTheyList wants no list to look at runs that it does not show.
func TestListsReadWhatTheyList(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, redis.Config{URL: srv.URL})
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer func() { _ = client.Close() }()
	const old, fresh, living = 600, 7, 5
	endRuns(t, s, startRuns(t, s, old)...)
	since := mark(t, s)
	endRuns(t, s, startRuns(t, s, fresh)...)
	startRuns(t, s, living)
	for _, tt := range []struct {
		filter agent.RunFilter
		want   int
	}{
		{agent.RunFilter{Live: true}, living + 1},
		{agent.RunFilter{Live: true, Most: 3}, 3},
		{agent.RunFilter{EndedAfter: since}, fresh + living + 1},
		{agent.RunFilter{Most: 20}, 20},
	} {
		if err := client.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		list, err := s.Runs(t.Context(), tt.filter)
		if err != nil || len(list) != tt.want {
			t.Fatalf("%+v: %d runs, %v; want %d", tt.filter, len(list), err, tt.want)
		}
		if n := calls(t, client, "hmget"); n != tt.want {
			t.Errorf("%+v looked at %d runs, want %d", tt.filter, n, tt.want)
		}
		if n, least := netOut(t, client), 700*(tt.want+16); n > least {
			t.Errorf("%+v read %d bytes, want at most %d", tt.filter, n, least)
		}
	}
}

// mark is a time of the server, behind all that was written.
func mark(t *testing.T, s *redis.Store) time.Time {
	t.Helper()
	r, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: agent.RunID(agent.NewID()), Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "clock", Requester: "terminal"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return r.At
}

// calls is how often a command was run since the last reset.
func calls(t *testing.T, client *goredis.Client, command string) (n int) {
	t.Helper()
	text, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	if _, rest, found := strings.Cut(text, "cmdstat_"+command+":calls="); found {
		if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// netOut is how many bytes the server has sent since the last reset.
func netOut(t *testing.T, client *goredis.Client) (n int) {
	t.Helper()
	text, err := client.Info(context.WithoutCancel(t.Context()), "stats").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(text, "total_net_output_bytes:")
	if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}
