package redis

// Calls of many goroutines, in few round trips.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent/guard"
)

const (
	// flights is how many round trips to one master are under way at once: while
	// the server works on one, the next is packed.
	flights = 4
	// load is how many calls share a round trip at most.
	load = 128
	// replicaPatience is how long a round trip waits for replicas.
	replicaPatience = time.Second
)

// ErrReplicas says that a commit was written but that fewer replicas than
// Config.WaitReplicas have confirmed it. The same commit may be sent again.
var ErrReplicas = errors.New("not enough replicas confirmed in time")

// call is one script with its arguments, and then its reply.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
	// confirm asks for the replicas' word.
	confirm bool

	cmd  *redis.Cmd
	err  error
	done chan struct{}
}

// pipe sends calls of many goroutines in shared round trips, those of each
// master apart: one that does not answer holds up nobody else's.
type pipe struct {
	client   redis.UniversalClient
	cluster  *redis.ClusterClient // nil: client is one master's
	replicas int
	log      *slog.Logger

	mu    sync.Mutex
	lanes map[string]*lane // by the master's address
	group sync.WaitGroup
}

// lane is the way to one master, there as long as somebody is on it.
type lane struct {
	address string
	client  redis.UniversalClient
	waiting []*call
	flying  int
}

func newPipe(srv server, replicas int) *pipe {
	p := &pipe{client: srv.client, replicas: replicas, log: slog.New(slog.DiscardHandler), lanes: map[string]*lane{}}
	if srv.cluster {
		p.cluster, _ = srv.client.(*redis.ClusterClient)
	}
	return p
}

// master is who has the key as far as this process knows. Where a Cluster's
// nodes say otherwise, or cannot be asked, redirect asks around.
func (p *pipe) master(ctx context.Context, key string) (address string, client redis.UniversalClient) {
	if p.cluster == nil {
		return "", p.client
	}
	node, err := p.cluster.MasterForKey(ctx, key)
	if err != nil {
		return "", p.client
	}
	return node.Options().Addr, node
}

// run sends a script and waits for its reply. When ctx ends first, the script
// may be carried out all the same.
func (p *pipe) run(ctx context.Context, c *call) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.done = make(chan struct{})
	address, client := p.master(ctx, c.keys[0])
	p.mu.Lock()
	l := p.lanes[address]
	if l == nil {
		l = &lane{address: address, client: client}
		p.lanes[address] = l
	}
	l.waiting = append(l.waiting, c)
	if l.flying < flights {
		l.flying++
		p.group.Go(func() { p.fly(context.WithoutCancel(ctx), l) })
	}
	p.mu.Unlock()
	select {
	case <-c.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.cmd.Result()
}

// fly makes round trips until nothing is waiting. Its context is of the
// caller that came first, without that caller's end: others' calls are aboard.
func (p *pipe) fly(ctx context.Context, l *lane) {
	for {
		p.mu.Lock()
		n := min(len(l.waiting), load)
		if n == 0 {
			l.flying--
			if l.flying == 0 {
				delete(p.lanes, l.address)
			}
			p.mu.Unlock()
			return
		}
		batch := l.waiting[:n:n]
		l.waiting = l.waiting[n:]
		p.mu.Unlock()
		broke := guard.Do(p.log, "a round trip to Redis", func() error { p.trip(ctx, l.client, batch); return nil })
		for _, c := range batch {
			if broke != nil {
				c.err = broke
			}
			close(c.done)
		}
	}
}

// trip sends a batch to the master that should have its keys, and what came
// back unanswered once more.
func (p *pipe) trip(ctx context.Context, client redis.UniversalClient, batch []*call) {
	p.send(ctx, client, batch, (*redis.Script).EvalSha)
	var strays []*call
	for _, c := range batch {
		switch err := c.cmd.Err(); {
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			p.send(ctx, client, []*call{c}, (*redis.Script).Eval) // with its text, after which the server knows it
		case p.cluster != nil && elsewhere(err):
			strays = append(strays, c)
		}
	}
	if len(strays) > 0 {
		p.redirect(ctx, strays)
	}
}

// evaluation is the way in which a script is called: by its hash or its text.
type evaluation func(s *redis.Script, ctx context.Context, by redis.Scripter, keys []string, args ...any) *redis.Cmd

// send makes one round trip.
func (p *pipe) send(ctx context.Context, client redis.UniversalClient, batch []*call, eval evaluation) {
	line := client.Pipeline()
	confirm := false
	for _, c := range batch {
		c.cmd, c.err = eval(c.script, ctx, line, c.keys, c.args...), nil
		confirm = confirm || c.confirm
	}
	var heard *redis.Cmd
	if confirm && p.replicas > 0 {
		heard = line.Do(ctx, "WAIT", p.replicas, replicaPatience.Milliseconds())
	}
	_, _ = line.Exec(ctx) // each command carries its own error
	for _, c := range batch {
		if c.confirm && heard != nil && c.cmd.Err() == nil {
			c.err = p.confirmed(heard)
		}
	}
}

// elsewhere says whether a Cluster's node did not take a call, so that another
// may: the slot has moved or moves, the node is no master any more, or it
// cannot be reached.
func elsewhere(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) {
		return false
	}
	var reply redis.Error
	if !errors.As(err, &reply) {
		return true // of the connection
	}
	if slotMoves(reply) {
		return true
	}
	switch word, _, _ := strings.Cut(reply.Error(), " "); word {
	case "MOVED", "ASK", "TRYAGAIN", "READONLY", "CLUSTERDOWN", "LOADING", "MASTERDOWN":
		return true
	}
	return false
}

// redirect sends calls by the Cluster's own directions, which are asked for
// anew, each for itself: the library's pipelines may read two answers into one
// call while slots move.
func (p *pipe) redirect(ctx context.Context, strays []*call) {
	p.cluster.ReloadState(ctx)
	var group sync.WaitGroup
	for _, c := range strays {
		group.Go(func() {
			broke := guard.Do(p.log, "a redirected call to Redis", func() error { p.sendAgain(ctx, c); return nil })
			if broke != nil {
				c.err = broke
			}
		})
	}
	group.Wait()
}

// sendAgain sends a call to wherever its slot is now. Its script may have been
// carried out already where the connection broke: it is sent as if its caller had
// sent it again.
func (p *pipe) sendAgain(ctx context.Context, c *call) {
	c.cmd, c.err = c.script.EvalSha(ctx, p.cluster, c.keys, c.args...), nil
	if redis.HasErrorPrefix(c.cmd.Err(), "NOSCRIPT") {
		c.cmd = c.script.Eval(ctx, p.cluster, c.keys, c.args...)
	}
	if !c.confirm || p.replicas == 0 || c.cmd.Err() != nil {
		return
	}
	// Only who sent the commit, or sends it again, to the master itself can
	// wait for its replicas.
	address, client := p.master(ctx, c.keys[0])
	if address == "" {
		c.err = fmt.Errorf("%w: who has slot of %s is not known", ErrReplicas, c.keys[0])
		return
	}
	p.send(ctx, client, []*call{c}, (*redis.Script).EvalSha)
	if err := c.cmd.Err(); err != nil {
		c.err = fmt.Errorf("%w: %w", ErrReplicas, err)
	}
}

func (p *pipe) confirmed(heard *redis.Cmd) error {
	n, err := heard.Int()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReplicas, err)
	}
	if n < p.replicas {
		return fmt.Errorf("%w: %d of %d within %s", ErrReplicas, n, p.replicas, replicaPatience)
	}
	return nil
}

// number runs a script that answers with a number.
func (p *pipe) number(ctx context.Context, c *call) (int64, error) {
	reply, err := p.run(ctx, c)
	if err != nil {
		return 0, err
	}
	n, ok := reply.(int64)
	if !ok {
		return 0, errReply
	}
	return n, nil
}

// slotMoves reports whether a script met a key that has moved to another node of
// a Cluster already, or a slot that has no master.
func slotMoves(reply redis.Error) bool {
	return strings.Contains(reply.Error(), "Script attempted to access a non local key") ||
		strings.Contains(reply.Error(), "while the cluster is down")
}
