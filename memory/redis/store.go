package redis

// The store: a server that fits, opened and closed.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/deckhand-bot/deckhand/agent"
)

// Errors of Open.
var (
	ErrUnreachable = errors.New("redis cannot be used")
	ErrServer      = errors.New("this Redis does not fit")
	ErrLayout      = errors.New("this Redis holds data of another layout")
)

// Config says where the store is and how it works.
type Config struct {
	// URL is redis://, rediss://, redis+sentinel:// or redis+cluster:// (see ErrURL).
	URL string
	// Lease is how long a claim holds without being extended; 0: 15 s.
	Lease time.Duration
	// Shards is the number of shard tags, fixed at the first start on a Redis;
	// 0: the number that is stored there, 16 at the first start.
	Shards int
	// WaitReplicas makes each commit wait until that many replicas have it
	// (ErrReplicas after a second without). 0: a failover may lose the newest
	// commits.
	WaitReplicas int
	// Log is told what the store noticed and gets by without; nil: nobody.
	Log *slog.Logger
}

const (
	defaultLease  = 15 * time.Second
	defaultShards = 16
	// poll is how long a lost ring may cost.
	poll = time.Second
)

// Store is a store on one Redis. It implements agent.Store and agent.Archive.
type Store struct {
	server
	keys
	pipe  *pipe
	bell  *doorbell
	lease time.Duration

	queue  queue
	opened time.Time
	seen   []atomic.Int64 // by shard: when this process last stamped it alive, in ns since opened
	busy   atomic.Bool    // the last claim of all shards got all it wanted
	turn   atomic.Uint64  // rotates the shards that claims look at first
	shards []shardState   // of a Cluster
	scans  scans
	log    *slog.Logger
	// oldOnce is until when once-keys of the release before count, on a Cluster.
	oldOnce time.Time
}

var (
	_ agent.Store   = (*Store)(nil)
	_ agent.Archive = (*Store)(nil)
)

// Open connects, and refuses a server that is too old, that may evict data, or
// whose data is of another layout or number of shards.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.Lease < 0 || c.Shards < 0 || c.WaitReplicas < 0 {
		return nil, fmt.Errorf("redis configuration: lease %s, shards %d and replicas %d may not be negative", c.Lease, c.Shards, c.WaitReplicas)
	}
	if c.Lease == 0 {
		c.Lease = defaultLease
	}
	srv, err := connect(c.URL)
	if err != nil {
		return nil, err
	}
	logging.Disable() // every error reaches the caller; the client would print them to stderr besides
	shards, err := srv.admit(ctx, c)
	if err != nil {
		_ = srv.client.Close() // the first error says more
		return nil, err
	}
	s := &Store{
		server: srv, keys: newKeys(shards, srv.cluster), lease: c.Lease,
		pipe: newPipe(srv, c.WaitReplicas),
		bell: newDoorbell(ctx, srv.client), opened: time.Now(), seen: make([]atomic.Int64, shards), shards: make([]shardState, shards),
		scans: scans{at: map[string]uint64{}},
	}
	if s.log = c.Log; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for i := range s.seen {
		s.seen[i].Store(-1 << 62)
	}
	if s.cluster {
		if err := s.takeOver(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Close ends the connections. Leases that are held run out.
func (s *Store) Close() error {
	err := s.bell.close()
	s.queue.group.Wait()
	s.pipe.group.Wait()
	return errors.Join(err, s.client.Close())
}

// admit asks the server what it is and returns the number of shards of its data.
func (s server) admit(ctx context.Context, c Config) (shards int, err error) {
	info, err := s.client.Info(ctx, "everything").Result()
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w; start it, or correct the URL", ErrUnreachable, s.address, err)
	}
	if err := s.fits(parseInfo(info), c); err != nil {
		return 0, err
	}
	want := c.Shards
	if want == 0 {
		want = defaultShards
	}
	if err := s.client.HSetNX(ctx, metaKey, "shards", want).Err(); err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	if err := s.client.HSetNX(ctx, metaKey, "layout", s.layout()).Err(); err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	meta, err := s.client.HGetAll(ctx, metaKey).Result()
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	if had := meta["layout"]; had != s.layout() && (had != layout || !s.cluster) {
		return 0, fmt.Errorf("%w: %s has layout %q, this build knows %s; use the build that wrote it, or an empty Redis", ErrLayout, s.address, had, s.layout())
	}
	shards, err = strconv.Atoi(meta["shards"])
	if err != nil || shards < 1 {
		return 0, fmt.Errorf("%w: %s says it has %q shards; field shards of %s is damaged", ErrLayout, s.address, meta["shards"], metaKey)
	}
	if c.Shards != 0 && c.Shards != shards {
		return 0, fmt.Errorf("%w: %s was set up with %d shards and the configuration says %d; set %d (or leave it out), or use an empty Redis",
			ErrLayout, s.address, shards, c.Shards, shards)
	}
	return shards, nil
}

// layout is the layout that this build writes.
func (s server) layout() string {
	if s.cluster {
		return clusterLayout
	}
	return layout
}

// fits refuses servers that cannot keep what they are told.
func (s server) fits(info map[string]string, c Config) error {
	version := info["redis_version"]
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 7 {
		return fmt.Errorf("%w: %s has version %q, 7.0 or later is needed", ErrServer, s.address, version)
	}
	if inCluster := info["cluster_enabled"] == "1"; inCluster != s.cluster {
		if inCluster {
			return fmt.Errorf("%w: %s is part of a Cluster; write redis+cluster:// (or rediss+cluster://) in its URL", ErrServer, s.address)
		}
		return fmt.Errorf("%w: %s is not part of a Cluster; leave +cluster out of its URL", ErrServer, s.address)
	}
	if role := info["role"]; role != "master" && !s.cluster {
		return fmt.Errorf("%w: %s is a %s; use the master's URL, or redis+sentinel://", ErrServer, s.address, role)
	}
	if policy := info["maxmemory_policy"]; strings.HasPrefix(policy, "allkeys-") {
		return fmt.Errorf("%w: %s evicts data (maxmemory-policy %s); set maxmemory-policy noeviction", ErrServer, s.address, policy)
	}
	return nil
}

// parseInfo reads the reply to INFO: lines of key:value.
func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			info[key] = value
		}
	}
	return info
}

// stampDue says whether this process should stamp the shard alive once more,
// and takes it that it does. Stamps come a few times a lease: their absence
// for a whole lease is an outage.
func (s *Store) stampDue(shard int) bool {
	now := int64(time.Since(s.opened))
	shard = s.presenceShard(shard)
	last := s.seen[shard].Load()
	return now-last >= int64(s.lease/6) && s.seen[shard].CompareAndSwap(last, now)
}

// explain names the server in an error of the connection. Ends of contexts
// pass as they are.
func (s *Store) explain(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("%s: the store was closed: %w", what, err)
	}
	if lasts(err) {
		return fmt.Errorf("%s: redis %s: %w: %w", what, s.address, agent.ErrPermanent, err)
	}
	return fmt.Errorf("%s: redis %s: %w", what, s.address, err)
}
