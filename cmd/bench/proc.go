package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
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
