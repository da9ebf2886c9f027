package redis_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// setBack makes the data look as if the server's clock had stepped back by so
// much: everything in it is so much later.
func setBack(t *testing.T, client *goredis.Client, by time.Duration) {
	t.Helper()
	ctx := t.Context()
	keys, err := client.Keys(ctx, "deckhand:{*}:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		switch key[strings.LastIndex(key, ":")+1:] {
		case "due":
			found, err := client.ZRangeWithScores(ctx, key, 0, -1).Result()
			if err != nil {
				t.Fatal(err)
			}
			for _, z := range found {
				if err := client.ZAdd(ctx, key, goredis.Z{Score: z.Score + float64(by.Microseconds()), Member: z.Member}).Err(); err != nil {
					t.Fatal(err)
				}
			}
		case "alive", "clock":
			text, err := client.Get(ctx, key).Result()
			if err != nil {
				t.Fatal(err)
			}
			var words []string
			for word := range strings.FieldsSeq(text) {
				n, err := strconv.ParseInt(word, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				if n > 0 {
					n += by.Microseconds()
				}
				words = append(words, strconv.FormatInt(n, 10))
			}
			if err := client.Set(ctx, key, strings.Join(words, " "), 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAServerThatStepsBackHoldsUpNoCall sets the server's clock back by an hour
// after a call to an endpoint: the next one waits for what the first took, not
// for the longest debt.
func TestAServerThatStepsBackHoldsUpNoCall(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL}), bare(t, srv)
	claimOne(t, s, begin(t, s), 0) // a worker is alive, and the store's time is kept
	charge := agent.Charge{Limit: "requests", Takes: 10 * time.Second}
	call := agent.Admission{Endpoint: "model", Run: "r", Strand: agent.Main, Charges: []agent.Charge{charge}}
	if wait, err := s.Admit(t.Context(), call); err != nil || wait != 0 {
		t.Fatalf("the first call: %v, %v", wait, err)
	}
	setBack(t, client, time.Hour)
	if err := client.HIncrBy(t.Context(), "deckhand:{endpoint/model}", "earned:requests", time.Hour.Microseconds()).Err(); err != nil {
		t.Fatal(err)
	}
	most := charge.Takes + 10*time.Second // the store's time goes on from its last stamp, which is older than the call
	if wait, err := s.Admit(t.Context(), call); err != nil || wait == 0 || wait > most {
		t.Errorf("the second call: %v, %v; want %v at most", wait, err, most)
	}
}

// TestAServerThatStepsBackMakesNothingLate sets the server's clock back by an
// hour under strands that are ready, leased by a worker that died, and on a
// timer.
func TestAServerThatStepsBackMakesNothingLate(t *testing.T) {
	const lease, step = 2 * time.Second, time.Hour
	srv := redistest.Start(t)
	config := redis.Config{URL: srv.URL, Lease: lease}
	s, client := open(t, config), bare(t, srv)
	ready, dead, timed := begin(t, s), begin(t, s), begin(t, s)
	claimOne(t, s, dead, 0)
	held := claimOne(t, s, timed, 0)
	if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: timed, Lease: &held, Seen: 1, Wake: map[agent.StrandID]time.Time{agent.Main: held.At.Add(lease)}}); err != nil {
		t.Fatal(err)
	}
	if wait, err := s.Take(t.Context(), agent.Pace{Name: "posts", Every: lease, Burst: 1}); err != nil || wait != 0 {
		t.Fatalf("take a turn: %v, %v", wait, err)
	}
	was, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	setBack(t, client, step)
	began := time.Now()

	if now, err := s.Now(t.Context()); err != nil || now.Before(was.Add(step-lease)) || now.After(was.Add(step+time.Minute)) {
		t.Errorf("the clock says %v, %v; want it to go on from %v", now, err, was.Add(step))
	}
	claimOne(t, open(t, config), ready, 0)
	next := claimOne(t, s, timed, 20*time.Second)
	claimOne(t, s, dead, 20*time.Second)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("due after %s", took)
	}
	late := next.At.Sub(held.At.Add(step))
	if late < lease || late > lease+10*time.Second {
		t.Errorf("the timer went off %v after it was set, want %v", late, lease)
	}
	c := agent.Commit{ID: agent.NewID(), Run: timed, Lease: &next, Seen: 1, Events: []agent.Event{said(agent.Main, "goes on")}}
	if r, err := s.Commit(t.Context(), c); err != nil || r.At.Before(was.Add(step-lease)) {
		t.Errorf("commit: %+v, %v; want it stamped after %v", r, err, was.Add(step))
	}
	if lost, err := s.Extend(t.Context(), []agent.Lease{next}); err != nil || len(lost) != 0 {
		t.Errorf("lost %+v, %v", lost, err)
	}
}

// TestTheClockCatchesUp sets the server's clock back by a second: the store's
// goes on meanwhile, slower than the server's, until both are one.
func TestTheClockCatchesUp(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL, Lease: 600 * time.Millisecond}), bare(t, srv)
	begin(t, s)
	if _, err := s.Claim(t.Context(), 1, 0, ""); err != nil { // stamps
		t.Fatal(err)
	}
	setBack(t, client, time.Second)
	last := time.Time{}
	for deadline := time.Now().Add(time.Minute); ; {
		now, err := s.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now.Before(last) {
			t.Fatalf("the clock went back from %v to %v", last, now)
		}
		last = now
		if server, err := client.Time(t.Context()).Result(); err == nil && server.Sub(now) >= 0 && server.Sub(now) < time.Second/2 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the clock says %v and has not caught up", now)
		}
		if _, err := s.Claim(t.Context(), 1, 100*time.Millisecond, "no-such-run"); err != nil {
			t.Fatal(err)
		}
	}
}
