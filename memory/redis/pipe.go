package redis

// Calls of many goroutines, in few round trips.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// flights is how many round trips are under way at once: while the server
	// works on one, the next is packed.
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

// pipe sends calls of many goroutines in shared round trips.
type pipe struct {
	client   redis.UniversalClient
	replicas int

	mu      sync.Mutex
	waiting []*call
	flying  int
	group   sync.WaitGroup
}

// run sends a script and waits for its reply. When ctx ends first, the script
// may be carried out all the same.
func (p *pipe) run(ctx context.Context, c *call) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.done = make(chan struct{})
	p.mu.Lock()
	p.waiting = append(p.waiting, c)
	if p.flying < flights {
		p.flying++
		p.group.Go(func() { p.fly(context.WithoutCancel(ctx)) })
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
func (p *pipe) fly(ctx context.Context) {
	for {
		p.mu.Lock()
		n := min(len(p.waiting), load)
		if n == 0 {
			p.flying--
			p.mu.Unlock()
			return
		}
		batch := p.waiting[:n:n]
		p.waiting = p.waiting[n:]
		p.mu.Unlock()
		p.trip(ctx, batch)
		for _, c := range batch {
			close(c.done)
		}
	}
}

func (p *pipe) trip(ctx context.Context, batch []*call) {
	confirm := false
	line := p.client.Pipeline()
	for _, c := range batch {
		c.cmd = c.script.EvalSha(ctx, line, c.keys, c.args...)
		confirm = confirm || c.confirm
	}
	var heard *redis.Cmd
	if confirm && p.replicas > 0 {
		heard = line.Do(ctx, "WAIT", p.replicas, replicaPatience.Milliseconds())
	}
	_, _ = line.Exec(ctx) // each command carries its own error
	for _, c := range batch {
		switch {
		case redis.HasErrorPrefix(c.cmd.Err(), "NOSCRIPT"):
			p.alone(ctx, c)
		case c.confirm && heard != nil && c.cmd.Err() == nil:
			c.err = p.confirmed(heard)
		}
	}
}

// alone sends a call with its script's text, after which the server knows it.
func (p *pipe) alone(ctx context.Context, c *call) {
	line := p.client.Pipeline()
	c.cmd = c.script.Eval(ctx, line, c.keys, c.args...)
	var heard *redis.Cmd
	if c.confirm && p.replicas > 0 {
		heard = line.Do(ctx, "WAIT", p.replicas, replicaPatience.Milliseconds())
	}
	_, _ = line.Exec(ctx)
	if heard != nil && c.cmd.Err() == nil {
		c.err = p.confirmed(heard)
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
