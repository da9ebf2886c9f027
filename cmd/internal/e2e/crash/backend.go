package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// Kind is a store under test.
type Kind string

// The stores.
const (
	SQLite   Kind = "sqlite"
	Redis    Kind = "redis"
	Sentinel Kind = "sentinel" // a master, its replica, and three sentinels
	Cluster  Kind = "cluster"  // three masters, and a replica of each
)

// Kinds are the stores that a suite is played on: in the short form those that
// have one process at most.
func Kinds() []Kind {
	if Soak() {
		return []Kind{SQLite, Redis, Sentinel, Cluster}
	}
	return []Kind{SQLite, Redis}
}

// Place is where a store is, as a child is told it.
type Place struct {
	Redis    string // URL; empty: the embedded store
	Replicas int    // that have what the store acknowledges
	Dir      string // of the embedded store
	Lease    time.Duration
}

// opening is how long a server may be away when a store is opened.
const opening = time.Minute

// Open opens the store. Where a server was struck just now it waits for it, as
// whatever starts processes would by starting another.
func (p Place) Open(ctx context.Context, mode sqlite.Mode) (store app.OpenedStore, err error) {
	c := config.Defaults()
	c.DataDir, c.Engine.Lease = p.Dir, p.Lease
	if p.Redis == "" {
		return app.OpenStore(ctx, c, mode, nil)
	}
	c.Redis.URL, c.Redis.WaitReplicas = config.NewSecret(p.Redis), p.Replicas
	patience, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	err = Insist(patience, func() (err error) {
		store, err = app.OpenStore(ctx, c, mode, nil)
		return err
	})
	return store, err
}

// Backend is a store with its servers, which end with the test.
type Backend struct {
	Place

	Kind Kind

	server    *redistest.Server
	sentinels *redistest.Sentinels
	cluster   *redistest.Cluster
}

// StartBackend starts the servers of a store; server are options of redis-server.
// Where there are replicas, a commit is acknowledged when one has it: without
// that (redis.wait_replicas) a failover may lose the newest ones.
func StartBackend(t *testing.T, kind Kind, dir string, lease time.Duration, server ...string) *Backend {
	t.Helper()
	b := &Backend{Kind: kind, Place: Place{Dir: dir, Lease: lease}}
	switch kind {
	case SQLite:
	case Redis:
		b.server = redistest.Start(t, server...)
		b.Redis = b.server.URL
	case Sentinel:
		b.sentinels = redistest.StartSentinels(t, server...)
		b.Redis, b.Replicas = b.sentinels.URL, 1
	case Cluster:
		b.cluster = redistest.StartCluster(t, server...)
		b.Redis, b.Replicas = b.cluster.URL, 1
	}
	return b
}

// Server is the only server, nil where there is none or more than one.
func (b *Backend) Server() *redistest.Server { return b.server }

// Strike is what was done to the servers.
type Strike struct {
	What   string
	Killed bool // a process
}

// Strike strikes the servers: one is killed and comes back after a pause, or the
// rank of a master or a slot with its keys is given to another one. It returns
// when all are whole again, so that no two strikes fall on one copy each.
func (b *Backend) Strike(ctx context.Context, pause time.Duration) Strike {
	switch {
	case b.cluster != nil:
		return b.strikeCluster(ctx, pause)
	case b.sentinels != nil:
		if rand.IntN(3) == 0 {
			b.sentinels.Failover()
			b.sentinels.AwaitHealthy()
			return Strike{What: "failover"}
		}
		dead := b.sentinels.KillMaster()
		b.sentinels.Master()
		Pause(ctx, 0, pause)
		dead.Restart()
		b.sentinels.AwaitHealthy()
		return Strike{"kill of a master", true}
	}
	b.server.Kill()
	Pause(ctx, 0, pause)
	b.server.Restart()
	return Strike{"kill of the server", true}
}

func (b *Backend) strikeCluster(ctx context.Context, pause time.Duration) Strike {
	defer b.cluster.AwaitHealthy()
	shard := fmt.Sprintf("deckhand:{%d}:due", rand.IntN(16))
	switch rand.IntN(4) {
	case 0:
		b.cluster.Failover(shard)
		return Strike{What: "failover"}
	case 1:
		b.cluster.MoveSlot(shard)
		return Strike{What: "moved slot"}
	}
	dead := b.cluster.KillMaster(shard)
	b.cluster.Master(shard)
	Pause(ctx, 0, pause)
	dead.Restart()
	return Strike{"kill of a master", true}
}
