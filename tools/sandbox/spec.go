package sandbox

// What a command needs, and how it went.

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Spec is what a command needs and may use: the same one for every driver.
// Zero bounds are the defaults.
type Spec struct {
	// Command is a program and its arguments. A name without a slash is looked
	// up in the sandbox's PATH.
	Command []string `json:"command"`
	// Image is the container image; drivers without images ignore it.
	Image string `json:"image,omitempty"`
	// Dir is a folder of the host that the command works in, at the same path,
	// and may change unless ReadOnly. Empty: an empty folder of its own, Work.
	Dir      string `json:"dir,omitempty"`
	ReadOnly bool   `json:"read_only,omitempty"`
	// Need are paths below Dir that the command needs, where Dir has to be carried to
	// it; empty: all of them.
	Need []string `json:"need,omitempty"`
	// Hide are files and folders of the host, below Dir, that are not there for
	// the command.
	Hide []string `json:"hide,omitempty"`
	// Read are further files and folders of the host that it may read.
	Read []string `json:"read,omitempty"`
	// Write are further folders of the host that it may change.
	Write []string `json:"write,omitempty"`
	// Scratch is a folder of the host that becomes Work; Run makes one where
	// files go in or come back. The command finds it as $OUT.
	Scratch string `json:"scratch,omitempty"`
	// Env is the whole environment besides PATH, HOME, TMPDIR and LANG.
	Env map[string]string `json:"env,omitempty"`
	// Network are the hosts that it may reach, "*.example.com" for those below;
	// empty: none at all.
	Network []string `json:"network,omitempty"`

	Memory    int64         `json:"memory,omitempty"`    // bytes, of all processes together; default 512 MiB
	Processor float64       `json:"processor,omitempty"` // processors at once; default 1
	Processes int           `json:"processes,omitempty"` // at once, threads not counted; default 64
	Disk      int64         `json:"disk,omitempty"`      // bytes that it may write; default 256 MiB
	Wall      time.Duration `json:"wall,omitempty"`      // nanoseconds; default 1 min, negative: no bound
	Output    int64         `json:"output,omitempty"`    // bytes of stdout and stderr together that Run keeps; default 64 KiB

	Stdin []byte `json:"-"` // of Run
	Files []File `json:"-"` // that Run puts into Work before
	// Keep are paths below Work whose files Run brings back.
	Keep []string `json:"-"`
}

// Work is the folder of a command that has no Dir.
const Work = "/work"

// Most that Run brings back: files, and bytes of all of them.
const (
	mostFiles = 100
	mostBytes = 32 << 20
)

// File is a file that goes into Work or comes back from it. Path is relative.
type File struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}

// Result is how a command went.
type Result struct {
	Code   int    `json:"code"` // its exit code; 128 and the signal's number where one ended it
	Stdout []byte `json:"stdout"`
	Stderr []byte `json:"stderr"`
	Files  []File `json:"files,omitempty"`
	// Limit says in words which limit ended it; empty: none did.
	Limit string `json:"limit,omitempty"`
}

// ErrSpec is the cause where a specification cannot be run by anybody.
var ErrSpec = errors.New("the sandbox's specification is wrong")

// ErrUnavailable is the cause where a driver cannot run commands here.
var ErrUnavailable = errors.New("the sandbox is not available")

// withDefaults fills in the bounds that are not given.
func (s Spec) withDefaults() Spec {
	if s.Memory <= 0 {
		s.Memory = 512 << 20
	}
	if s.Processor <= 0 {
		s.Processor = 1
	}
	if s.Processes <= 0 {
		s.Processes = 64
	}
	if s.Disk <= 0 {
		s.Disk = 256 << 20
	}
	if s.Wall == 0 {
		s.Wall = time.Minute
	}
	if s.Output <= 0 {
		s.Output = 64 << 10
	}
	return s
}

// check reports what nobody could run.
func (s Spec) check() error {
	if err := s.checkWords(); err != nil {
		return err
	}
	for _, p := range slices.Concat([]string{s.Dir, s.Scratch}, s.Hide, s.Read, s.Write) {
		if p != "" && !filepath.IsAbs(p) {
			return fmt.Errorf("%w: the path %q is not absolute", ErrSpec, p)
		}
	}
	for _, f := range s.Files {
		if err := checkInside(f.Path); err != nil {
			return err
		}
	}
	for _, p := range s.Keep {
		if err := checkInside(p); err != nil {
			return err
		}
	}
	return nil
}

// checkWords looks at what the command is started with.
func (s Spec) checkWords() error {
	if len(s.Command) == 0 || s.Command[0] == "" {
		return fmt.Errorf("%w: it has no command", ErrSpec)
	}
	for _, word := range s.Command {
		if strings.ContainsRune(word, 0) {
			return fmt.Errorf("%w: the command has a NUL character", ErrSpec)
		}
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fmt.Errorf("%w: %q cannot be the name of an environment variable", ErrSpec, name)
		}
	}
	return nil
}

func checkInside(p string) error {
	if !filepath.IsLocal(p) || path.Clean(p) == "." {
		return fmt.Errorf("%w: the path %q does not lie in the command's folder", ErrSpec, p)
	}
	return nil
}

// folder is where the command starts.
func (s Spec) folder() string {
	if s.Dir != "" {
		return s.Dir
	}
	return Work
}

// size is "4 KiB", "16 MiB", "2 GiB" or "100 bytes".
func size(n int64) string {
	switch {
	case n > 0 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n > 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n > 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// The words in which a limit is told.
func tooMuchMemory(s Spec) string {
	return fmt.Sprintf("it used more than %s %s; work on smaller pieces", size(s.Memory), MemoryWords)
}

// MemoryWords stand in the words for too much memory, and in no others.
const MemoryWords = "of memory"

func tooManyProcesses(s Spec) string {
	return fmt.Sprintf("it had more than %d processes at once", s.Processes)
}

func tooMuchDisk(s Spec) string {
	return fmt.Sprintf("it wrote more than %s to disk", size(s.Disk))
}

func tooLong(s Spec) string { return fmt.Sprintf("it took longer than %s", s.Wall) }

func tooMuchOutput(s Spec) string {
	return fmt.Sprintf("it put out more than %s; send large output into a file", size(s.Output))
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}
