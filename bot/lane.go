package bot

import "sync"

// Lanes runs jobs: those that share a lane one after the other as they came,
// the others side by side. A platform keeps the order of its threads with it.
type Lanes struct {
	slots chan struct{}
	limit int

	mu    sync.Mutex
	tails map[string]chan struct{} // per lane: closed when its last job is over
	size  int
}

// NewLanes runs so many jobs side by side and takes in at most limit.
func NewLanes(parallel, limit int) *Lanes {
	return &Lanes{slots: make(chan struct{}, parallel), limit: limit, tails: map[string]chan struct{}{}}
}

// Add starts the job with run as soon as every earlier one of its lanes is over.
// It reports false when there are too many.
func (l *Lanes) Add(lanes []string, run func(func()), job func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size >= l.limit {
		return false
	}
	l.size++
	done := make(chan struct{})
	var before []chan struct{}
	for _, lane := range lanes {
		if tail, busy := l.tails[lane]; busy {
			before = append(before, tail)
		}
		l.tails[lane] = done
	}
	run(func() {
		for _, tail := range before {
			<-tail
		}
		l.slots <- struct{}{}
		defer l.over(lanes, done)
		job()
	})
	return true
}

func (l *Lanes) over(lanes []string, done chan struct{}) {
	<-l.slots
	l.mu.Lock()
	defer l.mu.Unlock()
	l.size--
	close(done)
	for _, lane := range lanes {
		if l.tails[lane] == done {
			delete(l.tails, lane)
		}
	}
}
