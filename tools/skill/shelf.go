package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/records"
)

// Bounds of what is read.
const (
	maxSkills      = 500
	maxSteps       = 64 << 10  // bytes of a SKILL.md
	maxFile        = 256 << 10 // bytes of a file that is read
	maxFiles       = 200       // of a skill
	maxName        = 64
	maxDescription = 1024
	// FileName is the file that makes a folder a skill.
	FileName = "SKILL.md"
)

// ErrSkill is wrapped by what is wrong with a skill.
var ErrSkill = errors.New("not a skill")

// Skill is one procedure.
type Skill struct {
	Name, Description string
	Steps             string   // Markdown
	Files             []string // beside SKILL.md, with slashes
	dir               string
}

// Shelf is the skills of this installation.
type Shelf struct{ list []Skill }

// Load reads the skills in the folders: each subfolder with a SKILL.md is one. Of
// two with a name the first counts. Every fault is told; the others are read.
func Load(dirs []string) (*Shelf, error) {
	s := &Shelf{}
	var faults []error
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			faults = append(faults, fmt.Errorf("read the skills in %s: %w", dir, err))
			continue
		}
		for _, e := range entries {
			at := filepath.Join(dir, e.Name())
			if _, err := os.Stat(filepath.Join(at, FileName)); err != nil {
				continue
			}
			one, err := read(at)
			if err == nil && len(s.list) == maxSkills {
				err = fmt.Errorf("%w: there are more than %d", ErrSkill, maxSkills)
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", at, err))
				continue
			}
			if _, is := s.find(one.Name); !is {
				s.list = append(s.list, one)
			}
		}
	}
	return s, errors.Join(faults...)
}

var namePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// read reads one folder.
func read(dir string) (Skill, error) {
	data, err := readUpTo(dir, FileName, maxSteps)
	if err != nil {
		return Skill{}, err
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	front, steps, is := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---")
	if !is || !strings.HasPrefix(text, "---\n") {
		return Skill{}, fmt.Errorf("%w: %s begins with no front matter between two lines ---", ErrSkill, FileName)
	}
	var head struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
	}
	if err := yaml.Unmarshal([]byte(front), &head); err != nil {
		return Skill{}, fmt.Errorf("%w: its front matter: %w", ErrSkill, err)
	}
	one := Skill{Name: head.Name, Description: strings.Join(strings.Fields(head.Description), " "), Steps: strings.TrimSpace(steps), dir: dir}
	switch {
	case !namePattern.MatchString(one.Name) || len(one.Name) > maxName:
		return Skill{}, fmt.Errorf("%w: its name %q is not made of lower-case words joined by hyphens, %d characters at most", ErrSkill, one.Name, maxName)
	case one.Description == "" || utf8.RuneCountInString(one.Description) > maxDescription:
		return Skill{}, fmt.Errorf("%w: its description has to say in 1 to %d characters what it does and when", ErrSkill, maxDescription)
	case one.Steps == "":
		return Skill{}, fmt.Errorf("%w: it has no steps", ErrSkill)
	}
	one.Files, err = filesIn(dir)
	return one, err
}

// readUpTo reads a file of a folder, which it does not leave.
func readUpTo(dir, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is no file", ErrSkill, name)
	case info.Size() > most:
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrSkill, name, info.Size(), most)
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	if err == nil && (!utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0) {
		return nil, fmt.Errorf("%w: %s is no text", ErrSkill, name)
	}
	return data, err
}

// filesIn are the files beside SKILL.md.
func filesIn(dir string) ([]string, error) {
	var list []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != ".":
			return fs.SkipDir
		case len(list) == maxFiles:
			return fs.SkipAll
		case e.Type().IsRegular() && path != FileName:
			list = append(list, path)
		}
		return nil
	})
	return list, err
}

func (s *Shelf) find(name string) (Skill, bool) {
	at := slices.IndexFunc(s.list, func(k Skill) bool { return k.Name == name })
	if at < 0 {
		return Skill{}, false
	}
	return s.list[at], true
}

// Skills are all of them.
func (s *Shelf) Skills() []Skill { return s.list }

// maxHint is how much of a skill's steps its record has, in characters.
const maxHint = 2000

// Records are the skills as recall finds them. Whoever put a skill into the
// configuration vouches for it.
func (s *Shelf) Records() []records.Record {
	list := make([]records.Record, len(s.list))
	for i, k := range s.list {
		list[i] = records.Record{ID: "skill-" + k.Name, Kind: records.Skill, Scope: records.Everywhere, Trust: agent.Trusted,
			Text: fmt.Sprintf("%s: %s Its steps: read_skill {\"name\": %q}.", k.Name, k.Description, k.Name), Caption: format.Cut(k.Steps, maxHint)}
	}
	return list
}
