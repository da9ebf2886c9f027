package ingest

import (
	"log/slog"
	"sync"
	"time"
)

// LogLimiter logs the same thing at most once a minute, so that nobody can fill
// the log from outside. Its zero value is ready for use.
type LogLimiter struct {
	mu      sync.Mutex
	next    map[string]time.Time
	dropped map[string]int
}

// Warn logs the text, with how often it was not logged before. Texts are
// constants: each is remembered for good.
func (l *LogLimiter) Warn(log *slog.Logger, text string, args ...any) {
	now := time.Now()
	l.mu.Lock()
	if l.next == nil {
		l.next, l.dropped = map[string]time.Time{}, map[string]int{}
	}
	if now.Before(l.next[text]) {
		l.dropped[text]++
		l.mu.Unlock()
		return
	}
	dropped := l.dropped[text]
	l.next[text], l.dropped[text] = now.Add(time.Minute), 0
	l.mu.Unlock()
	log.Warn(text, append(args, "not_logged", dropped)...) //nolint:sloglint // the callers' texts are constants
}
