package sandbox

// Rights given up for good: Landlock for files, seccomp for the kernel's more
// dangerous doors, resource limits.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// headroom is what a program's runtime may map besides the memory that counts.
const headroom = 64 << 20

// limitProcess bounds this process, and with it each one below: files, dumps,
// data. The watch bounds what they use together.
func limitProcess(s Spec) error {
	for _, l := range []struct {
		name  string
		which int
		value int64
	}{
		{"file size", unix.RLIMIT_FSIZE, s.Disk},
		{"core dumps", unix.RLIMIT_CORE, 0},
		{"memory", unix.RLIMIT_DATA, s.Memory + headroom},
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.which, &now); err != nil {
			return fmt.Errorf("the limit of %s cannot be read: %w", l.name, err)
		}
		value := min(uint64(l.value), now.Max)
		if err := unix.Setrlimit(l.which, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("the limit of %s cannot be set: %w", l.name, err)
		}
	}
	return nil
}

// addNamespaces asks for namespaces that an ordinary user may make: users,
// networks, processes, names. The file system stays; Landlock is for that.
func addNamespaces(a *syscall.SysProcAttr) {
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}}
}

// confine takes from this thread, which becomes the command, what it needs not.
func confine(s Spec) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("privileges: %w", err)
	}
	if err := landlock(s); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	filter := filterFor(true)
	if len(filter) == 0 {
		return nil
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program))); errno != 0 { //nolint:gosec // the system call takes an address
		return fmt.Errorf("system calls: %w", errno)
	}
	return nil
}

// childIsolates reports whether the kernel can take files and network from a
// plain process.
func childIsolates() bool { return landlockVersion() >= 1 && auditArch() != 0 }

// landlockVersion is the kernel's version of Landlock, 0: it has none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// What Landlock tells apart, by the version that brought it.
const (
	readRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	firstRights = 1<<13 - 1
	fileRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// landlock leaves the command the files that its specification names, where
// the kernel can do that.
func landlock(s Spec) error {
	version := landlockVersion()
	if version == 0 {
		return nil
	}
	handled := uint64(firstRights)
	if version >= 2 {
		handled |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		handled |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0) //nolint:gosec // the system call takes an address
	if errno != 0 {
		return errno
	}
	set := int(fd)
	defer func() { _ = unix.Close(set) }()
	if err := allowFiles(set, s, handled); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func allowFiles(set int, s Spec, handled uint64) error {
	read := append(append(append([]string{"/proc", "/dev"}, system...), linked...), s.Read...)
	write := append([]string{}, s.Write...)
	if s.Scratch != "" {
		write = append(write, s.Scratch)
	}
	var failures []error
	switch {
	case s.Dir == "":
	case s.ReadOnly:
		failures = append(failures, allowBut(set, s.Dir, readRights, s.Hide))
	default:
		failures = append(failures, allowBut(set, s.Dir, handled, s.Hide))
	}
	for _, p := range read {
		failures = append(failures, allow(set, p, readRights))
	}
	for _, p := range write {
		failures = append(failures, allow(set, p, handled))
	}
	for _, p := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		failures = append(failures, allow(set, p, (readRights|unix.LANDLOCK_ACCESS_FS_WRITE_FILE)&fileRights))
	}
	return errors.Join(failures...)
}

// allowBut adds a folder without what is hidden in it: of the folders on the way
// there, the names of their files and no more, so new files cannot be made there.
func allowBut(set int, dir string, rights uint64, hide []string) error {
	holds := func(p string) bool {
		return slices.ContainsFunc(hide, func(h string) bool { return strings.HasPrefix(h, strings.TrimSuffix(p, "/")+"/") })
	}
	if !holds(dir) {
		return allow(set, dir, rights)
	}
	entries, err := os.ReadDir(dir)
	failures := []error{err, allow(set, dir, unix.LANDLOCK_ACCESS_FS_READ_DIR)}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(hide, p):
		case e.IsDir():
			failures = append(failures, allowBut(set, p, rights, hide))
		default:
			failures = append(failures, allow(set, p, rights))
		}
	}
	return errors.Join(failures...)
}

// allow adds a path, with what is below it. One that is not there adds nothing.
func allow(set int, name string, rights uint64) error {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 { //nolint:gosec // the system call takes an address
		return fmt.Errorf("%s: %w", name, errno)
	}
	return nil
}

// auditArch is the kernel's number of this processor, 0: no filter is made for it.
func auditArch() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// forbidden are system calls that open more of the kernel than a command needs.
var forbidden = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PTRACE,
}

// The flags of clone that make namespaces, and where a filter finds things.
const (
	namespaceFlags = 0x7E020000
	numberAt       = 0
	archAt         = 4
	firstArgument  = 16
	otherABI       = 0x40000000 // x32 on amd64
)

// filterFor is the program that judges a command's system calls; empty: there
// is none for this processor. A command that shares the host's files gets no
// sockets: those of the host's services are files that Landlock does not guard.
func filterFor(noSockets bool) []unix.SockFilter {
	arch := auditArch()
	if arch == 0 {
		return nil
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	give := func(v uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v}
	}
	refuse := func(e syscall.Errno) unix.SockFilter { return give(unix.SECCOMP_RET_ERRNO | uint32(e)) }
	const allow = unix.SECCOMP_RET_ALLOW
	f := []unix.SockFilter{load(archAt), jump(unix.BPF_JEQ, arch, 1, 0), give(unix.SECCOMP_RET_KILL_PROCESS), load(numberAt)}
	if arch == unix.AUDIT_ARCH_X86_64 {
		f = append(f, jump(unix.BPF_JGE, otherABI, 0, 1), refuse(unix.ENOSYS))
	}
	for _, number := range forbidden {
		f = append(f, jump(unix.BPF_JEQ, number, 0, 1), refuse(unix.EPERM))
	}
	f = append(f, jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), refuse(unix.ENOSYS), // its flags cannot be seen: libraries use clone then
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(firstArgument), jump(unix.BPF_JSET, namespaceFlags, 0, 1), refuse(unix.EPERM), give(allow))
	if noSockets {
		f = append(f, jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 1), refuse(unix.EACCES))
	}
	return append(f, give(allow))
}

// seccompFile holds a filter for whoever loads it, nil where there is none.
func seccompFile(filter []unix.SockFilter) (*os.File, error) {
	if len(filter) == 0 {
		return nil, nil //nolint:nilnil // none is no error
	}
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, filter); err != nil {
		return nil, fmt.Errorf("the filter of system calls cannot be written: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("the filter of system calls cannot be handed over: %w", err)
	}
	_, err = w.Write(b.Bytes()) // fits into the pipe
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("the filter of system calls cannot be handed over: %w", err)
	}
	return r, nil
}
