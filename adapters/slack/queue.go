package slack

import "sync"

// queue runs jobs: those that share a lane one after the other as they came,
// the others side by side.
type queue struct {
	slots chan struct{}
	limit int

	mu    sync.Mutex
	tails map[string]chan struct{} // per lane: closed when its last job is over
	size  int
}

// newQueue runs so many jobs side by side and takes in at most limit.
func newQueue(parallel, limit int) *queue {
	return &queue{slots: make(chan struct{}, parallel), limit: limit, tails: map[string]chan struct{}{}}
}

// add starts the job with run as soon as every earlier one of its lanes is over.
// It reports false when there are too many.
func (q *queue) add(lanes []string, run func(func()), job func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size >= q.limit {
		return false
	}
	q.size++
	done := make(chan struct{})
	var before []chan struct{}
	for _, lane := range lanes {
		if tail, busy := q.tails[lane]; busy {
			before = append(before, tail)
		}
		q.tails[lane] = done
	}
	run(func() {
		for _, tail := range before {
			<-tail
		}
		q.slots <- struct{}{}
		defer q.over(lanes, done)
		job()
	})
	return true
}

func (q *queue) over(lanes []string, done chan struct{}) {
	<-q.slots
	q.mu.Lock()
	defer q.mu.Unlock()
	q.size--
	close(done)
	for _, lane := range lanes {
		if q.tails[lane] == done {
			delete(q.tails, lane)
		}
	}
}
