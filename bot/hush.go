package bot

import (
	"log/slog"
	"sync"
	"time"
)

// Hush logs the same thing at most once a minute, so that nobody can fill the
// log from outside.
type Hush struct {
	mu   sync.Mutex
	next map[string]time.Time
	kept map[string]int
}

// Warn logs the text, with how often it was not logged before. Texts are
// constants: each is remembered for good.
func (q *Hush) Warn(log *slog.Logger, text string, args ...any) {
	now := time.Now()
	q.mu.Lock()
	if q.next == nil {
		q.next, q.kept = map[string]time.Time{}, map[string]int{}
	}
	if now.Before(q.next[text]) {
		q.kept[text]++
		q.mu.Unlock()
		return
	}
	kept := q.kept[text]
	q.next[text], q.kept[text] = now.Add(time.Minute), 0
	q.mu.Unlock()
	log.Warn(text, append(args, "not_logged", kept)...) //nolint:sloglint // the callers' texts are constants
}
