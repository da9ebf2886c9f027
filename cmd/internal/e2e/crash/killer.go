package crash

import (
	"os"
	"sync"
	"time"
)

// Killer kills its own process at a boundary.
type Killer struct {
	at     Boundary
	record *Record
	dying  sync.Once

	mu      sync.Mutex
	counted map[string]int
}

// NewKiller kills at the boundary, and says so in the record first.
func NewKiller(at Boundary, record *Record) *Killer {
	return &Killer{at: at, record: record, counted: map[string]int{}}
}

// Count numbers the next thing of a kind, from 1.
func (k *Killer) Count(what string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counted[what]++
	return k.counted[what]
}

// Wants says whether this is the boundary.
func (k *Killer) Wants(what, when string, n int) bool {
	return n > 0 && k.at == Boundary{what, when, n}
}

// Pass dies where this is the boundary; d says what the child was doing.
func (k *Killer) Pass(what, when string, n int, d Death) {
	if k.Wants(what, when, n) {
		k.Die(d)
	}
}

// Die ends the process by SIGKILL: nothing is flushed, closed, released or said.
// Whoever calls it meanwhile waits for the end, too.
func (k *Killer) Die(d Death) {
	k.dying.Do(func() {
		d.Boundary, d.At = k.at, time.Now()
		k.record.Write(Entry{Died: &d})
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			_ = self.Kill() // cannot fail for one's own process
		}
		select {}
	})
}
