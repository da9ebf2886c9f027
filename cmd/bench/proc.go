package main

// This file measures processes: their memory, and this one's processor time.

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// resident is the resident memory of a process, in bytes, 0 if it cannot be
// told. Linux tells it in /proc, macOS by ps.
func resident(pid int) uint64 {
	if data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm"); err == nil {
		fields := bytes.Fields(data)
		if len(fields) < 2 {
			return 0
		}
		pages, _ := strconv.ParseUint(string(fields[1]), 10, 64)
		return pages * uint64(os.Getpagesize())
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	kib, _ := strconv.ParseUint(string(bytes.TrimSpace(out)), 10, 64)
	return kib << 10
}

// meter measures this process between measure and stop.
type meter struct {
	began  time.Time
	before time.Duration
	base   uint64
	quit   chan struct{}
	peak   chan uint64
}

func measure() *meter {
	m := &meter{began: time.Now(), before: cpu(), base: resident(os.Getpid()), quit: make(chan struct{}), peak: make(chan uint64)}
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		peak := m.base
		for {
			select {
			case <-tick.C:
				peak = max(peak, resident(os.Getpid()))
			case <-m.quit:
				m.peak <- peak
				return
			}
		}
	}()
	return m
}

func (m *meter) stop() cost {
	c := cost{cpu: cpu() - m.before, wall: time.Since(m.began)}
	close(m.quit)
	c.memory = <-m.peak - m.base
	return c
}

// cpu is the processor time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
