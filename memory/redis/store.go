package redis

// The store: opened and closed, and what its server's errors mean.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	trail
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
	oldOnce  time.Time
	warnings []string
}

var (
	_ agent.Store   = (*Store)(nil)
	_ agent.Archive = (*Store)(nil)
)

// Open connects, and refuses a server that is too old, that may evict data, that
// does not let its user do all that is needed, or whose data is of another
// layout or number of shards. What should be otherwise, but is not needed, is
// logged and kept in Warnings.
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
	shards, warnings, err := srv.admit(ctx, c)
	if err != nil {
		_ = srv.client.Close() // the first error says more
		return nil, err
	}
	s := &Store{
		server: srv, keys: newKeys(shards, srv.cluster), lease: c.Lease,
		pipe:   newPipe(srv, c.WaitReplicas),
		opened: time.Now(), seen: make([]atomic.Int64, shards), shards: make([]shardState, shards),
		scans: scans{at: map[string]uint64{}},
	}
	s.trail = trail{s}
	if s.log = c.Log; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.pipe.log = s.log
	for _, w := range warnings {
		s.log.Warn("redis: the server is not as it should be", "warning", w, "server", srv.address)
	}
	s.warnings = warnings
	s.bell = newDoorbell(ctx, srv.client, s.log)
	for i := range s.seen {
		s.seen[i].Store(-1 << 62)
	}
	if s.cluster {
		if err := (mover{s}).takeOver(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Warnings says what the server should have otherwise, in words for an operator.
func (s *Store) Warnings() []string { return s.warnings }

// Close ends the connections. Leases that are held run out.
func (s *Store) Close() error {
	err := s.bell.close()
	s.queue.group.Wait()
	s.pipe.group.Wait()
	return errors.Join(err, s.client.Close())
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
	if passwordRefused(err) {
		return fmt.Errorf("%s: redis %s: %w: %w", what, s.address, ErrPassword, err)
	}
	if lasts(err) {
		return fmt.Errorf("%s: redis %s: %w: %w", what, s.address, agent.ErrPermanent, err)
	}
	return fmt.Errorf("%s: redis %s: %w", what, s.address, err)
}

// passing are the first words of the errors that a server gives for a while: it
// loads its data, is full, cannot write its disk, has too few replicas, runs
// somebody's long script, became a replica, or a Cluster is moving slots. A
// password that is refused is somebody's to mend, at the server or here.
var passing = []string{
	"LOADING", "OOM", "MISCONF", "NOREPLICAS", "BUSY", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK",
	"NOAUTH", "WRONGPASS", "NOSCRIPT", "UNBLOCKED", "ERR max number of clients", "ERR upstream", "ERR Proxy",
}

// lasts reports whether an error is the server's answer and stays so: NOPERM,
// WRONGTYPE, a script that fails. What is no answer is of the connection.
func lasts(err error) bool {
	reply, is := errors.AsType[redis.Error](err)
	if !is || errors.Is(err, redis.Nil) || errors.Is(err, ErrReplicas) || errors.Is(err, agent.ErrPermanent) {
		return false
	}
	if slotMoves(reply) {
		return false
	}
	word := strings.TrimPrefix(reply.Error(), "redis: ")
	for _, p := range passing {
		if strings.HasPrefix(word, p) {
			return false
		}
	}
	return true
}
