package playbook

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
)

// Fault is something wrong in a file. Line counts from 1; 0: the file as a whole.
type Fault struct {
	File    string
	Line    int
	Message string
}

// String is "FILE:LINE: message".
func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
}

// Role is a role as its file says it. Tools that may be missing here end in "?".
type Role struct {
	agent.Role
	File  string
	lines places
}

// The bounds of a file and of a role's prompt, in bytes.
const (
	MaxFile   = 256 << 10
	maxPrompt = 32 << 10
)

// memories are the words for what a role is told of earlier work.
var memories = []string{"", agent.MemoryNone, "person", "channel", "workspace"}

// readRole reads Markdown with front matter between two lines of "---".
func readRole(file string, data []byte) (Role, []Fault) {
	r := Role{File: file}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	head, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !strings.HasPrefix(text, "---\n") || !ok {
		return r, []Fault{{file, 1, "a role begins with front matter between two lines of ---: name, description, tools, model"}}
	}
	var f struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
		Tools       words  `yaml:"tools"`
		Model       string `yaml:"model"`
		Memory      string `yaml:"memory"`
		Publishes   words  `yaml:"publishes"`
		Subscribes  words  `yaml:"subscribes"`
	}
	lines, faults := decode(file, 1, []byte(head), &f)
	if len(faults) > 0 {
		return r, faults
	}
	r.lines = lines
	r.Role = agent.Role{Name: f.Name, Description: f.Description, Prompt: strings.TrimSpace(body), Tools: agent.Texts(f.Tools),
		Model: f.Model, Memory: f.Memory, Publishes: agent.Texts(f.Publishes), Subscribes: agent.Texts(f.Subscribes)}
	fault := func(key, format string, args ...any) {
		faults = append(faults, Fault{file, lines.of(key), fmt.Sprintf(format, args...)})
	}
	if !validName(f.Name) {
		fault("name", "name %q: a role needs a name of letters, digits, - and _", f.Name)
	}
	if r.Prompt == "" {
		fault("name", "the role %s has no text below its front matter: that is its prompt", f.Name)
	}
	if len(r.Prompt) > maxPrompt {
		fault("name", "the prompt has %d bytes, at most %d fit", len(r.Prompt), maxPrompt)
	}
	if !slices.Contains([]string{"", agent.RoleMain, agent.RoleFast}, f.Model) {
		fault("model", "model %q: write main or fast", f.Model)
	}
	if !slices.Contains(memories, f.Memory) {
		fault("memory", "memory %q: write none, person, channel or workspace", f.Memory)
	}
	return r, faults
}

// words is a list that is also written as one word, or with commas, as roles of
// coding agents have it.
type words []string

// UnmarshalYAML reads a list or a text.
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		for part := range strings.SplitSeq(n.Value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*w = append(*w, part)
			}
		}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// validName reports whether files, plans and commands can name it.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}
