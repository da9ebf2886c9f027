package main

// This file measures processes: their memory, and this one's processor time.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"strconv"
	"strings"
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

// own is the part of a process's resident memory that it shares with nobody: its
// heap and stacks. The rest are pages of the program's file, of which the
// system keeps as many at hand as it likes. It is 0 if it cannot be told.
func own(pid int) uint64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "\nAnonymous:")
	line, _, _ := strings.Cut(rest, "kB")
	kib, _ := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
	return kib << 10
}

// idleRow is the memory of a served process that has nothing to do.
func idleRow(name string, pid int, aim float64) row {
	rss := float64(resident(pid)) / 1e6
	value := fmt.Sprintf("%.1f MB", rss)
	if private := own(pid); private > 0 {
		value += fmt.Sprintf(", of it %.1f its own", float64(private)/1e6)
	}
	return row{name: name + ": idle memory", value: value, aim: fmt.Sprintf("≤ %.0f MB", aim), reached: rss <= aim}
}

// meter measures this process between measure and stop.
type meter struct {
	began  time.Time
	before time.Duration
	base   uint64
	quit   chan struct{}
	peak   chan memory
}

// memory is what a process has resident, and what of it is Go's: objects that
// live, and stacks. Most of the rest is what the collector will find next.
type memory struct{ resident, live, stacks uint64 }

// memoryNow is this process's memory now.
func memoryNow() memory {
	m := memory{resident: resident(os.Getpid())}
	for name, to := range map[string]*uint64{"/gc/heap/live:bytes": &m.live, "/memory/classes/heap/stacks:bytes": &m.stacks} {
		sample := []metrics.Sample{{Name: name}}
		metrics.Read(sample)
		*to = sample[0].Value.Uint64()
	}
	return m
}

func measure() *meter {
	debug.FreeOSMemory() // what the load before it left behind is none of this one's
	m := &meter{began: time.Now(), before: cpu(), base: resident(os.Getpid()), quit: make(chan struct{}), peak: make(chan memory)}
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		peak := memory{resident: m.base}
		for {
			select {
			case <-tick.C:
				if now := memoryNow(); now.resident > peak.resident {
					peak = now
				}
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
	c.memory = <-m.peak
	c.memory.resident -= m.base
	return c
}

// profile begins a processor profile of a load of the engine, where one is
// asked for. Done ends it and writes it, with the memory as it was at its
// highest beside it.
func (e *environment) profile(l load) (done func() error, err error) {
	if e.profiles == "" {
		return func() error { return nil }, nil
	}
	base := filepath.Join(e.profiles, fmt.Sprintf("%s-%druns-%dtasks-%dsteps", time.Now().Format("150405"), l.runs, l.tasks, l.steps))
	processor, err := os.Create(base + ".cpu")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(processor); err != nil {
		return nil, errors.Join(err, processor.Close())
	}
	quit, memory := make(chan struct{}), make(chan []byte)
	go func() { memory <- heapAtPeak(quit) }()
	return func() error {
		pprof.StopCPUProfile()
		close(quit)
		return errors.Join(processor.Close(), os.WriteFile(base+".heap", <-memory, 0o644))
	}, nil
}

// heapAtPeak is a memory profile of when the most was resident.
func heapAtPeak(quit chan struct{}) []byte {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	var peak uint64
	var profile bytes.Buffer
	for {
		select {
		case <-quit:
			return profile.Bytes()
		case <-tick.C:
		}
		if now := resident(os.Getpid()); now > peak+peak/20 {
			peak = now
			profile.Reset()
			_ = pprof.WriteHeapProfile(&profile) // into memory
		}
	}
}

// cpu is the processor time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
