package kit

// This file reads the roles and playbooks of an installation: those that come with
// the program, those of packs, and those beside the configuration's file. The
// later ones take the place of earlier ones of the same name.

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/deckhand-bot/deckhand/agent/playbook"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// Shelf holds roles and playbooks as their files are now. It may be used from many
// goroutines.
type Shelf struct {
	c   config.Config
	log *slog.Logger

	mu      sync.Mutex
	state   string // of the files when they were read
	library *playbook.Library
	faults  []playbook.Fault
}

// NewShelf reads nothing yet. What is wrong in files goes to the log.
func NewShelf(c config.Config, log *slog.Logger) *Shelf {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Shelf{c: c, log: log}
}

// ownFolders are the folders beside the configuration's file.
func ownFolders(c config.Config) []string {
	if c.File == "" {
		return nil
	}
	dir := filepath.Dir(c.File)
	return []string{filepath.Join(dir, "roles"), filepath.Join(dir, "playbooks")}
}

// mostFiles bounds the files of all folders.
const mostFiles = 1000

// files are the files of the folders, and what tells whether one changed.
func (s *Shelf) files() (paths []string, state string) {
	var b strings.Builder
	dirs := slices.Concat(s.c.PackFolders("roles"), s.c.PackFolders("playbooks"), ownFolders(s.c))
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // there is none
		}
		for _, e := range entries {
			ext := filepath.Ext(e.Name())
			info, err := e.Info()
			if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") || len(paths) == mostFiles || ext != ".md" && ext != ".yaml" && ext != ".yml" || e.Name() == "README.md" {
				continue
			}
			path := filepath.Join(dir, e.Name())
			paths = append(paths, path)
			fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return paths, b.String()
}

// Read reads what changed since the last time.
func (s *Shelf) Read() (*playbook.Library, []playbook.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths, state := s.files()
	if s.library != nil && state == s.state {
		return s.library, s.faults
	}
	list := slices.Clone(playbook.Shipped())
	var unread []playbook.Fault
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			unread = append(unread, playbook.Fault{File: p, Message: err.Error()})
			continue
		}
		list = append(list, playbook.File{Path: p, Data: data})
	}
	s.library, s.faults = playbook.Read(list)
	s.faults, s.state = append(unread, s.faults...), state
	for _, f := range s.faults {
		s.log.Error("a role or playbook is left out", "err", f.String())
	}
	return s.library, s.faults
}

// Library is Read without the faults.
func (s *Shelf) Library() *playbook.Library {
	l, _ := s.Read()
	return l
}
