package pack

// A pack read from its folder: what it gives, and what is wrong with it.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of a pack.
const (
	maxFiles = 2000
	maxFile  = 8 << 20  // bytes of one file
	maxAll   = 64 << 20 // bytes of all files
	maxTools = 500
)

// manifestFile is the file that makes a folder a pack.
const manifestFile = "pack.yaml"

// manifest is pack.yaml.
type manifest struct {
	Name        string `yaml:"name"`
	Version     string `yaml:"version"`
	Description string `yaml:"description"`
	// Variables are those of the environment that its HTTP tools read, Hosts those
	// that they reach.
	Variables []string `yaml:"variables"`
	Hosts     []string `yaml:"hosts"`
	Data      dataset  `yaml:"data"`
	// Effects are what the tools of its servers and documents do, by their names.
	Effects map[string]string `yaml:"effects"`
}

// packName is what a pack may be called: names of its tools begin with it.
var packName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// oddCharacter is what no name of a pack has.
var oddCharacter = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// Pack is a folder that was read. What is wrong with it is in Faults; the rest of it
// is used.
type Pack struct {
	Name, Version, Description string
	// Dir is its folder on this host, empty: it is one that is shipped.
	Dir string
	// Hash tells this content from any other.
	Hash   string
	Faults []Fault
	// Effects are what the pack says of tools of its servers and documents.
	Effects map[string]string
	// Servers is its mcp.json, and Documents are the files of openapi/; relative.
	Servers   string
	Documents []string
	// Variables and Hosts are what its HTTP tools read and reach.
	Variables, Hosts []string

	fsys    fs.FS
	files   map[string]string // hashes by name
	tools   []*definition
	fixture *fixture
	data    dataset
}

// Open reads the pack in a folder. Where there is none it returns an error.
func Open(dir string) (*Pack, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs) // links that lead out of the pack lead nowhere
	if err != nil {
		return nil, fmt.Errorf("there is no pack in %s: %w", dir, errors.Unwrap(err))
	}
	p, err := read(root.FS(), abs)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return p, nil
}

// read reads a pack. It holds what its tools do, so that files that change later
// change nothing that was accepted.
func read(fsys fs.FS, dir string) (*Pack, error) {
	text, err := fs.ReadFile(fsys, manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no pack: it has no %s", dir, manifestFile)
	}
	if err != nil {
		return nil, err
	}
	p := &Pack{Dir: dir, fsys: fsys}
	f := &file{name: manifestFile}
	var m manifest
	if doc := f.document(text); doc != nil {
		f.into(doc, &m)
		f.manifest(doc, m)
	}
	p.Name, p.Version, p.Description, p.Effects, p.Variables, p.Hosts, p.data = m.Name, m.Version, m.Description, m.Effects, m.Variables, m.Hosts, m.Data
	if !packName.MatchString(p.Name) {
		p.Name = oddCharacter.ReplaceAllString(filepath.Base(dir), "_") // it stands under the folder's
	}
	if err := p.hash(); err != nil {
		return nil, fmt.Errorf("the pack %s: %w", p.Name, err)
	}
	schemas := f.schemas(m.Data)
	p.Faults = append(p.Faults, f.faults...)
	p.fixture = newFixture(fsys, dir, m.Data, schemas)
	p.readTools()
	p.connections()
	return p, nil
}

// manifest notes what is wrong with pack.yaml.
func (f *file) manifest(n *yaml.Node, m manifest) {
	if !packName.MatchString(m.Name) {
		f.fault(lineOf(n, "name"), "name: %q: a letter, then at most 31 letters, digits, _ and -: names of its tools begin with it", m.Name)
	}
	if strings.TrimSpace(m.Description) == "" {
		f.fault(n.Line, "description: say in a sentence what the pack is for")
	}
	if m.Version == "" {
		f.fault(n.Line, "version: it has none, such as 1.0.0")
	}
	if m.Data.Trust != "" && trusts[m.Data.Trust] == "" {
		f.fault(lineOf(n, "data"), "data.trust is trusted or untrusted, not %q", m.Data.Trust)
	}
	for name, effect := range m.Effects {
		if effect != "read" && effect != "idempotent" && effect != "send" {
			f.fault(lineOf(n, "effects"), "effects.%s: %q is none of read, idempotent, send", name, effect)
		}
	}
	for _, v := range m.Variables {
		if Reserved(v) {
			f.fault(lineOf(n, "variables"), "variables: %s holds a secret of Deckhand's own, which no pack reads", v)
		}
	}
}

// Reserved reports whether a variable is Deckhand's own, which no pack reads.
func Reserved(name string) bool {
	return slices.ContainsFunc([]string{"DECKHAND_", "SLACK_", "DISCORD_", "OPENAI_"}, func(p string) bool { return strings.HasPrefix(strings.ToUpper(name), p) })
}

// schemas are the JSON Schemas of the dataset's tables.
func (f *file) schemas(c dataset) map[string]json.RawMessage {
	list := map[string]json.RawMessage{}
	n := c.Schemas
	for i := 0; i+1 < len(n.Content); i += 2 {
		raw, err := asJSON(n.Content[i+1])
		if err != nil {
			f.fault(n.Content[i].Line, "data.schemas.%s: %v", n.Content[i].Value, err)
			continue
		}
		list[n.Content[i].Value] = raw
	}
	return list
}

// lineOf is the line of a key, or of the node.
func lineOf(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i].Line
		}
	}
	return n.Line
}

// readTools reads tools/*.yaml. A file that is wrong costs its own tools.
func (p *Pack) readTools() {
	names, _ := fs.Glob(p.fsys, "tools/*.y*ml") // the pattern is right
	seen := map[string]*definition{}
	for _, name := range names {
		f := &file{name: name}
		text, err := fs.ReadFile(p.fsys, name)
		if err != nil {
			f.fault(0, "%v", err)
		} else if doc := f.document(text); doc != nil {
			for _, d := range f.definitions(doc) {
				if other := seen[d.Name]; other != nil {
					f.fault(d.line, "%s is there already, in %s:%d", d.Name, other.file, other.line)
					continue
				}
				if p.ready(f, d) {
					seen[d.Name] = d
					p.tools = append(p.tools, d)
				}
			}
		}
		p.Faults = append(p.Faults, f.faults...)
	}
	if len(p.tools) > maxTools {
		p.Faults = append(p.Faults, Fault{"tools", 0, fmt.Sprintf("it has %d tools, %d are used", len(p.tools), maxTools)})
		p.tools = p.tools[:maxTools]
	}
}

// connections finds the pack's servers and documents.
func (p *Pack) connections() {
	if _, err := fs.Stat(p.fsys, "mcp.json"); err == nil {
		p.Servers = "mcp.json"
	}
	for _, pattern := range []string{"openapi/*.json", "openapi/*.y*ml"} {
		names, _ := fs.Glob(p.fsys, pattern) // the pattern is right
		p.Documents = append(p.Documents, names...)
	}
}

// hash reads every file once: what it is now is what was accepted.
func (p *Pack) hash() error {
	p.files = map[string]string{}
	total := int64(0)
	err := fs.WalkDir(p.fsys, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && name != ".":
			return fs.SkipDir // .git
		case !e.Type().IsRegular():
			return nil
		}
		sum, n, err := sumOf(p.fsys, name)
		if total += n; total > maxAll || len(p.files) >= maxFiles {
			return fmt.Errorf("it has more than %d files or %d MiB", maxFiles, maxAll>>20)
		}
		p.files[name] = sum
		return err
	})
	p.Hash = p.sum(func(string) bool { return true })
	return err
}

// sum is the hash of those files that count.
func (p *Pack) sum(counts func(name string) bool) string {
	h := sha256.New()
	names := make([]string, 0, len(p.files))
	for name := range p.files {
		if counts(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(h, "%s %s\n", p.files[name], name)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// program reports whether a file of the pack may be part of a program: what is
// only read as data or by others is not.
func program(name string) bool {
	top, _, inside := strings.Cut(name, "/")
	return !inside || !slices.Contains([]string{"data", "tools", "openapi", "roles", "playbooks", "skills"}, top)
}

func sumOf(fsys fs.FS, name string) (string, int64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("%s has more than %d MiB", name, maxFile>>20)
	}
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// content is a file of the pack as it was when the pack was read.
func (p *Pack) content(name string) ([]byte, error) {
	clean := path.Clean(name)
	was, known := p.files[clean]
	if !known {
		return nil, fmt.Errorf("there is no file %s in the pack", name)
	}
	text, err := fs.ReadFile(p.fsys, clean)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != was {
		return nil, fmt.Errorf("%s changed just now", name)
	}
	return text, nil
}

// readBounded reads a file of at most so many bytes.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d MiB", name, most>>20)
	}
	return text, err
}
