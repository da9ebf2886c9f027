package resident

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unmapProgram gives back the resident pages of this program's file that nobody
// can write to: MADV_DONTNEED on a mapping of a file drops pages that the next
// access reads again from the file (see madvise(2)).
func unmapProgram() {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return // without /proc the pages stay, which costs memory and nothing else
	}
	defer maps.Close()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if m, ok := readOnly(lines.Text(), program); ok {
			_ = unix.Madvise(m, unix.MADV_DONTNEED) // refused pages stay
		}
	}
}

// readOnly is the mapping that a line of /proc/PID/maps describes, where it is of
// the file at the path and cannot be written to.
func readOnly(line, path string) ([]byte, bool) {
	var from, to uintptr
	var permissions, offset, device string
	var inode uint64
	n, err := fmt.Sscanf(line, "%x-%x %s %s %s %d", &from, &to, &permissions, &offset, &device, &inode)
	if n != 6 || err != nil || !strings.HasSuffix(line, " "+path) || strings.Contains(permissions, "w") || from >= to {
		return nil, false
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), from)), to-from), true //nolint:gosec // the kernel named the addresses
}
