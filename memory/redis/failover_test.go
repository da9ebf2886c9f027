package redis_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// disturbance is one thing that happens to servers under load.
type disturbance struct {
	what  string
	kills bool // a server; else it is a strike that kills nothing
	do    func(round int)
}

// soakVar asks for the long form, and may name the file for the rows of the
// table that `make soak` prints (cmd/internal/e2e/crash has the other rows).
const soakVar = "DECKHAND_SOAK"

// row adds what was endured to that table: the commits that were acknowledged
// stand for effects.
func row(t *testing.T, kind string, list []disturbance, runs, commits int) {
	t.Helper()
	kills, verdict := 0, "0"
	for _, d := range list {
		if d.kills {
			kills += rounds()
		}
	}
	if t.Failed() {
		verdict = "FAILED"
	}
	text := fmt.Sprintf("| commits, servers under load | %s | %d | %d | %d | %d | – | – | %s | 0 |\n",
		kind, kills, rounds()*len(list)-kills, runs, commits, verdict)
	t.Log(text)
	name := os.Getenv(soakVar)
	if !filepath.IsAbs(name) {
		return
	}
	table, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = table.WriteString(text)
		err = errors.Join(err, table.Close())
	}
	if err != nil {
		t.Errorf("the table of the figures: %v", err)
	}
}

// rounds is how often each disturbance comes: once, or many times in the long form.
func rounds() int {
	if os.Getenv(soakVar) != "" {
		return 12
	}
	return 1
}

// endure works runs while the disturbances come one after the other. With
// WaitReplicas as many as each master has replicas, every commit that was
// acknowledged must be in its journal once, at its receipt's place, with its
// name and counters, and no other commit twice.
func endure(t *testing.T, kind, url string, list []disturbance) {
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
	defer func() { row(t, kind, list, len(runs), b.acks()) }()
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
	endure(t, "cluster", c.URL, []disturbance{
		{"a slot moved", false, func(round int) { c.MoveSlot(dueKey(round % shards)) }},
		{"a failover", false, func(round int) {
			key := another(round)
			c.Failover(key)
			c.AwaitHealthy()
			newest = c.Master(key)
		}},
		{"a master was killed", true, func(round int) {
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
	list := []disturbance{{"the master was killed", true, func(int) {
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
		list = append(list, disturbance{"a failover", false, func(int) {
			g.Failover()
			g.AwaitHealthy()
		}})
	}
	endure(t, "sentinel", g.URL, list)
}
