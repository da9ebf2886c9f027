package sqlite

// The one goroutine that writes.

import (
	"context"
	"fmt"
	"time"
)

const (
	// batchSize bounds how many requests share a transaction, and with it how
	// long the first of them waits.
	batchSize = 256
	// pollEvery is how often other processes' commits are looked for while
	// somebody waits for them.
	pollEvery = 100 * time.Millisecond
)

// request is something for the writer to do. run must not write before it knows
// that it will write all, and may be called again after a failed transaction.
type request struct {
	run   func(ctx context.Context, t *txn) error
	claim *claim // instead of run
	lazy  bool   // needs no fsync of its own (see the package's comment)
	done  chan error
}

// writer owns the writing connection. Its fields belong to its goroutine but
// for the channels and the watches.
type writer struct {
	session *session
	clock   *clock
	lease   time.Duration
	watches *watches
	refuses error // what every request is told; nil: it is carried out

	requests chan *request
	stop     chan struct{}
	stopped  chan struct{}

	batch   []*request
	waiting []*claim // claims that found nothing yet, the oldest first
	next    int64    // when the next strand is due, while claims wait
	version int64    // data_version at the last look
	looked  time.Time
}

// work runs until stop is closed.
func (w *writer) work(ctx context.Context) {
	defer close(w.stopped)
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	for {
		var look <-chan time.Time
		if w.attentive() {
			timer.Reset(w.pause())
			look = timer.C
		}
		select {
		case r := <-w.requests:
			w.take(ctx, r)
		case <-w.watches.begun:
		case <-look:
			w.look(ctx)
		case <-w.stop:
			w.end()
			return
		}
	}
}

// attentive says whether anybody waits for something that may come from
// another process or with time.
func (w *writer) attentive() bool {
	left := w.waiting[:0]
	for _, c := range w.waiting {
		if c.waits() {
			left = append(left, c)
		}
	}
	clear(w.waiting[len(left):])
	w.waiting = left
	return len(left) > 0 || w.watches.any()
}

// pause is how long there is nothing to look for.
func (w *writer) pause() time.Duration {
	pause := pollEvery - time.Since(w.looked)
	if len(w.waiting) > 0 && w.next != never {
		pause = min(pause, time.Duration(w.next-w.clock.now()))
	}
	return max(pause, 0)
}

// take runs the request together with what else is waiting.
func (w *writer) take(ctx context.Context, first *request) {
	w.batch = append(w.batch[:0], first)
	for len(w.batch) < batchSize {
		select {
		case r := <-w.requests:
			w.batch = append(w.batch, r)
			continue
		default:
		}
		break
	}
	for _, r := range w.batch {
		if r.claim != nil {
			w.waiting = append(w.waiting, r.claim)
		}
	}
	err := w.transact(ctx, w.batch)
	if err != nil && len(w.batch) > 1 {
		// One of them may be what the file cannot hold.
		for _, r := range w.batch {
			if r.run != nil {
				r.answer(w.transact(ctx, []*request{r}))
			}
		}
	} else {
		for _, r := range w.batch {
			r.answer(err)
		}
	}
	clear(w.batch)
}

func (r *request) answer(err error) {
	if r.claim == nil {
		r.done <- err
	}
}

// transact runs the requests and serves the waiting claims in one transaction.
func (w *writer) transact(ctx context.Context, requests []*request) error {
	full := false
	for _, r := range requests {
		full = full || !r.lazy
	}
	t := &txn{session: w.session, began: time.Now(), now: w.clock.now(), lease: int64(w.lease)}
	err := w.session.sync(ctx, full)
	if err == nil {
		_, err = w.session.exec(ctx, begin)
	}
	if err == nil {
		err = w.fill(ctx, t, requests)
	}
	if err != nil {
		// Without a transaction a rollback fails, and is not needed.
		_, _ = w.session.exec(ctx, rollback)
		w.fail(fmt.Errorf("claim: %w", err))
		return err
	}
	t.reply()
	w.dismiss()
	for run, row := range t.runs {
		w.watches.grown(run, row.length)
	}
	return nil
}

// fill makes the transaction, from its first check to its commit.
func (w *writer) fill(ctx context.Context, t *txn, requests []*request) error {
	for _, r := range requests {
		if r.run == nil {
			continue
		}
		if err := r.run(ctx, t); err != nil {
			return err
		}
	}
	if err := t.putRuns(ctx); err != nil {
		return err
	}
	if len(w.waiting) > 0 {
		if err := t.grant(ctx, w.waiting); err != nil {
			return err
		}
		var err error
		if w.next, err = t.next(ctx); err != nil {
			return err
		}
	}
	_, err := w.session.exec(ctx, commit)
	return err
}

// dismiss sends claims away that did not want to wait.
func (w *writer) dismiss() {
	for _, c := range w.waiting {
		if c.once && c.settle() {
			c.reply <- reply{}
		}
	}
}

// fail ends all waiting claims.
func (w *writer) fail(err error) {
	for _, c := range w.waiting {
		if c.settle() || c.granted {
			c.reply <- reply{err: err}
		}
	}
	w.waiting = w.waiting[:0]
}

// look notices what other processes committed, and that strands are due.
func (w *writer) look(ctx context.Context) {
	w.looked = time.Now()
	var version int64
	_, err := w.session.find(ctx, dataVersion, nil, &version)
	if err != nil {
		w.fail(fmt.Errorf("look for news: %w", err))
		return
	}
	news := version != w.version
	w.version = version
	if news {
		for _, run := range w.watches.runs() {
			var row runRow
			if _, err := w.session.find(ctx, findRun, []any{string(run)}, row.fields()...); err != nil {
				w.watches.fail(run, err)
				continue
			}
			w.watches.grown(run, row.length)
		}
	}
	if len(w.waiting) > 0 && (news || w.next <= w.clock.now()) {
		_ = w.transact(ctx, nil) // the waiting claims were told
	}
}

// end refuses what is still there.
func (w *writer) end() {
	w.fail(ErrClosed)
	for {
		select {
		case r := <-w.requests:
			if r.claim != nil {
				r.claim.reply <- reply{err: ErrClosed}
			} else {
				r.done <- ErrClosed
			}
		default:
			return
		}
	}
}

// submit hands a request over.
func (w *writer) submit(ctx context.Context, r *request) error {
	if w.refuses != nil {
		return w.refuses
	}
	select {
	case <-w.stop:
		return ErrClosed
	default:
	}
	select {
	case w.requests <- r:
		return nil
	case <-w.stop:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do has the writer run f, and waits for it to be on the disk. After an error
// of the context nobody knows whether it ran.
func (w *writer) do(ctx context.Context, lazy bool, f func(context.Context, *txn) error) error {
	r := &request{run: f, lazy: lazy, done: make(chan error, 1)}
	if err := w.submit(ctx, r); err != nil {
		return err
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopped:
		// It may have been answered just before.
		select {
		case err := <-r.done:
			return err
		default:
			return ErrClosed
		}
	}
}
