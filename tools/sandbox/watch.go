package sandbox

// What ends a command: time, memory, processes, files, a signal.

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// The pace of the watch: how often processes are looked at, and for which part
// of the time folders may be walked.
const (
	look      = 20 * time.Millisecond
	walkShare = 10
)

// watcher looks at one command.
type watcher struct {
	spec  Spec
	r     *running
	began int64     // bytes in Dir and Write at the start
	walk  time.Time // when folders are looked at again
}

// watch waits until the command has ended, and ends it where it must. It
// returns the limit that ended it, in words.
func watch(spec Spec, r *running, ended <-chan struct{}, signals <-chan os.Signal) (limit string) {
	w := watcher{spec: spec, r: r}
	w.began, _ = w.used()
	tick := time.NewTicker(look)
	defer tick.Stop()
	wall, stopWall := timer(spec.Wall)
	defer stopWall()
	var hard <-chan time.Time
	for {
		select {
		case <-ended:
			return limit
		case <-wall:
			limit = first(limit, tooLong(spec))
			end(r)
		case <-hard:
			end(r)
		case sig := <-signals:
			if sig != syscall.SIGTERM {
				end(r)
				continue
			}
			signalCommand(syscall.SIGTERM)
			hard, _ = timer(grace)
		case now := <-tick.C:
			if limit == "" {
				limit = w.passed(now)
			}
			if limit != "" {
				end(r) // again and again: something may have forked meanwhile
			}
		}
	}
}

// failedFor is the wall that a command ran into which failed by itself, in words:
// where memory is refused, programs end in many ways and few of them say why.
func failedFor(spec Spec, r *running, code int) string {
	if r.remote {
		if code == codeEnded || r.starved() { // nobody here killed it: the kernel did, and not every engine says so
			return tooMuchMemory(spec)
		}
		return ""
	}
	if hit := r.group.passed(spec); hit != "" {
		return hit
	}
	if peakMemory() > spec.Memory/2 {
		return "it failed when it used most of its " + size(spec.Memory) + " " + MemoryWords + "; work on smaller pieces"
	}
	return ""
}

// end ends the command and all below it.
func end(r *running) {
	if r.kill != nil {
		r.kill()
	}
	killTree(r)
}

// timer is a channel that something comes from after a time; never, where it
// is negative.
func timer(d time.Duration) (<-chan time.Time, func()) {
	if d < 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// passed is the limit that the command passes now, in words.
func (w *watcher) passed(now time.Time) string {
	if hit := w.r.group.passed(w.spec); hit != "" {
		return hit
	}
	if !w.r.remote {
		processes, memory := treeUsage(w.spec.Processes + w.r.overhead)
		switch {
		case processes > w.spec.Processes+w.r.overhead:
			return tooManyProcesses(w.spec)
		case memory > w.spec.Memory:
			return tooMuchMemory(w.spec)
		}
	}
	if now.Before(w.walk) {
		return ""
	}
	used, took := w.used()
	w.walk = now.Add(max(5*look, walkShare*took))
	if used-w.began > w.spec.Disk {
		return tooMuchDisk(w.spec)
	}
	return ""
}

// used is the size of the folders that the command may change, and how long it
// took to find out.
func (w *watcher) used() (bytes int64, took time.Duration) {
	start := time.Now()
	dirs := append([]string{}, w.r.scratch...)
	if !w.spec.ReadOnly && w.spec.Dir != "" {
		dirs = append(dirs, w.spec.Dir)
	}
	for _, dir := range append(dirs, w.spec.Write...) {
		// What cannot be looked at counts nothing; a file that goes away meanwhile is no error.
		_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // see above
			}
			if info, err := e.Info(); err == nil {
				bytes += blocks(info)
			}
			return nil
		})
	}
	return bytes, time.Since(start)
}

// blocks is what a file takes of the disk.
func blocks(info fs.FileInfo) int64 {
	if s, is := info.Sys().(*syscall.Stat_t); is {
		return s.Blocks * 512
	}
	return info.Size()
}
