package ingest

import "sync"

// KeyedQueue runs jobs: those that share a key one after the other as they came,
// the others side by side. A platform keeps the order of its threads with it.
type KeyedQueue struct {
	slots chan struct{}
	limit int

	mu   sync.Mutex
	last map[string]chan struct{} // per key: closed when its last job is over
	size int
}

// NewKeyedQueue runs so many jobs side by side and takes in at most limit.
func NewKeyedQueue(parallel, limit int) *KeyedQueue {
	return &KeyedQueue{slots: make(chan struct{}, parallel), limit: limit, last: map[string]chan struct{}{}}
}

// Add starts the job with run as soon as every earlier one of its keys is over.
// It reports false when there are too many.
func (q *KeyedQueue) Add(keys []string, run func(func()), job func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size >= q.limit {
		return false
	}
	q.size++
	done := make(chan struct{})
	var before []chan struct{}
	for _, key := range keys {
		if last, busy := q.last[key]; busy {
			before = append(before, last)
		}
		q.last[key] = done
	}
	run(func() {
		for _, last := range before {
			<-last
		}
		q.slots <- struct{}{}
		defer q.finish(keys, done)
		job()
	})
	return true
}

// finish makes room for the next job of the keys.
func (q *KeyedQueue) finish(keys []string, done chan struct{}) {
	<-q.slots
	q.mu.Lock()
	defer q.mu.Unlock()
	q.size--
	close(done)
	for _, key := range keys {
		if q.last[key] == done {
			delete(q.last, key)
		}
	}
}
