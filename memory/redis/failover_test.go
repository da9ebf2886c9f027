package redis_test

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// disturbance is one thing that happens to servers under load.
type disturbance struct {
	what string
	do   func(round int)
}

// rounds is how often each disturbance comes: once, or many times in the long form.
func rounds() int {
	if os.Getenv("DECKHAND_SOAK") != "" {
		return 12
	}
	return 1
}

// endure works runs while the disturbances come one after the other. With
// WaitReplicas as many as each master has replicas, every commit that was
// acknowledged must be in its journal once, at its receipt's place, with its
// name and counters, and no other commit twice.
func endure(t *testing.T, url string, list []disturbance) {
	t.Helper()
	s := open(t, redis.Config{URL: url, Lease: 3 * time.Second, WaitReplicas: 1})
	var runs []agent.RunID
	for shard := range shards {
		runs = append(runs, runIn(shard))
		if _, err := insist(t.Context(), s, opening(runs[shard])); err != nil {
			t.Fatal(err)
		}
	}
	b, stop := newBook(), make(chan struct{})
	failed := make(chan error, 8)
	for w := range cap(failed) {
		go func() { failed <- b.work(t.Context(), stop, s, w) }()
	}
	const steps = 60
	for round := range rounds() {
		for _, d := range list {
			b.reach(t, b.acks()+steps)
			began, had := time.Now(), b.acks()
			d.do(round)
			t.Logf("%s: %d commits were acknowledged meanwhile, in %s", d.what, b.acks()-had, time.Since(began).Round(time.Millisecond))
		}
	}
	b.reach(t, b.acks()+steps)
	close(stop)
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	b.checkAll(t, s, runs)
	t.Logf("%d commits were acknowledged, %d overtaken", b.acks(), b.overtaken.Load())
}

func TestClusterUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	// Each time another master's shard: a replica that was elected, became a
	// replica again and loses its master within seconds counts the old votes
	// once more, in an epoch that no other node accepts (Redis 7.0).
	var newest *redistest.Server
	another := func(round int) string {
		for i := range shards {
			if key := dueKey((5*round + i) % shards); c.Master(key) != newest {
				return key
			}
		}
		t.Fatal("one master has all shards")
		return ""
	}
	endure(t, c.URL, []disturbance{
		{"a slot moved", func(round int) { c.MoveSlot(dueKey(round % shards)) }},
		{"a failover", func(round int) {
			key := another(round)
			c.Failover(key)
			c.AwaitHealthy()
			newest = c.Master(key)
		}},
		{"a master was killed", func(round int) {
			key := another(round)
			dead := c.KillMaster(key)
			newest = c.Master(key)
			dead.Restart()
			c.AwaitHealthy()
		}},
	})
}

func TestSentinelsUnderLoadLoseNothing(t *testing.T) {
	t.Parallel()
	g := redistest.StartSentinels(t)
	list := []disturbance{{"the master was killed", func(int) {
		dead := g.KillMaster()
		now := g.Master()
		dead.Restart()
		if rounds() == 1 { // the sentinels do that too, after ten seconds or more
			host, port, _ := net.SplitHostPort(now.Addr)
			if _, err := dead.Query("REPLICAOF", host, port); err != nil {
				t.Fatal(err)
			}
			return
		}
		g.AwaitHealthy()
	}}}
	if rounds() > 1 {
		list = append(list, disturbance{"a failover", func(int) {
			g.Failover()
			g.AwaitHealthy()
		}})
	}
	endure(t, g.URL, list)
}
