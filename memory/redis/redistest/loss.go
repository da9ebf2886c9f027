package redistest

// A server that loses the end of what it had acknowledged, as one does whose
// disk was behind, or whose replica took over.

import (
	"os"
	"path/filepath"
	"slices"
)

// Written is how much of the append-only file is written: give it to
// LoseSince. The server must have been started with "--appendfsync", "always",
// so that everything that it has answered is in the file.
func (s *Server) Written() int64 {
	s.t.Helper()
	info, err := os.Stat(s.appended())
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Size()
}

// LoseSince kills the server, takes everything out of its append-only file that
// came behind the point, and starts it again.
func (s *Server) LoseSince(written int64) {
	s.t.Helper()
	s.Kill()
	if err := os.Truncate(s.appended(), written); err != nil {
		s.t.Fatal(err)
	}
	s.Restart()
}

// appended is the file that the server appends to.
func (s *Server) appended() string {
	s.t.Helper()
	dir := s.args[slices.Index(s.args, "--dir")+1]
	found, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(found) != 1 {
		s.t.Fatalf("append-only files in %s: %v, %v; want one", dir, found, err)
	}
	return found[0]
}
