package redis

// Waking who waits.

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent/guard"
)

const (
	// listenPause is the pause before the bell's connection is tried again,
	// deafPause where the server refuses to let it listen.
	listenPause = 200 * time.Millisecond
	deafPause   = 5 * time.Second
	// deafLog is how often the log says that the bell is not heard.
	deafLog = 10 * time.Minute
)

// doorbell wakes the goroutines of this process that wait, over one connection
// that listens on the bell's channel. Topics are run ids, and "" for work that
// became due.
type doorbell struct {
	sub  *redis.PubSub
	log  *slog.Logger
	done chan struct{} // closed by hang

	mu      sync.Mutex
	waiting map[string]*waiters
	group   sync.WaitGroup
}

func newDoorbell(ctx context.Context, client redis.UniversalClient, log *slog.Logger) *doorbell {
	ctx = context.WithoutCancel(ctx) // listens until the store is closed
	d := &doorbell{sub: client.Subscribe(ctx, bell), log: log, done: make(chan struct{}), waiting: map[string]*waiters{}}
	d.group.Go(func() {
		_ = guard.Keep(ctx, log, "the doorbell", func(ctx context.Context) error { d.listen(ctx); return nil }) // it has none
	})
	return d
}

// waiters are all who wait for one topic.
type waiters struct {
	rung chan struct{}
	n    int
}

// next returns what is closed at the topic's next ring, and what to call when
// nobody listens to it any more. Ask for it before looking whether there is
// reason to wait.
func (d *doorbell) next(topic string) (rung <-chan struct{}, leave func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.waiting[topic]
	if !ok {
		e = &waiters{rung: make(chan struct{})}
		d.waiting[topic] = e
	}
	e.n++
	return e.rung, func() { d.leave(topic, e) }
}

func (d *doorbell) leave(topic string, e *waiters) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.n--
	if e.n == 0 && d.waiting[topic] == e {
		delete(d.waiting, topic)
	}
}

func (d *doorbell) ring(topic string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, ok := d.waiting[topic]; ok {
		close(e.rung)
		delete(d.waiting, topic)
	}
}

// ringAll wakes everybody, as rings may have been lost.
func (d *doorbell) ringAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for topic, e := range d.waiting {
		close(e.rung)
		delete(d.waiting, topic)
	}
}

func (d *doorbell) listen(ctx context.Context) {
	var told time.Time // when the log was told that nothing is heard
	for {
		heard, err := d.sub.Receive(ctx)
		switch m := heard.(type) {
		case *redis.Message:
			d.ring(m.Payload)
		case *redis.Subscription:
			d.ringAll()
			if !told.IsZero() {
				d.log.Info("redis: the bell is heard again", "channel", bell)
				told = time.Time{}
			}
		}
		if errors.Is(err, redis.ErrClosed) {
			return
		}
		if err == nil {
			continue
		}
		if time.Since(told) >= deafLog {
			d.log.Warn("redis: the bell is not heard; what becomes due is noticed a second late until it is", "channel", bell, "err", err)
			told = time.Now()
		}
		pause := listenPause
		_, refused := errors.AsType[redis.Error](err)
		if refused {
			pause = deafPause
		}
		select {
		case <-d.done:
			return
		case <-time.After(pause):
		}
		if refused {
			_ = d.sub.Subscribe(ctx, bell) // Receive has its error
		}
	}
}

// close ends the listening.
func (d *doorbell) close() error {
	close(d.done)
	err := d.sub.Close()
	d.group.Wait()
	return err
}
