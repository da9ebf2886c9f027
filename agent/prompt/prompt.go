package prompt

// This file loads the prompt files and decision functions that are built into
// the program. It checks them when they are opened and hashes each prompt, so
// that events can name the exact prompt that they came from.

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

//go:embed files
var files embed.FS

// Book holds every prompt, parsed and hashed. It is safe for concurrent use.
type Book struct {
	prompts   map[llm.Purpose]page
	functions map[string]llm.Function
	schedules bool                       // can be kept
	thoughts  bool                       // are asked for with each call of a tool
	playbooks func(goal string) []string // that fit a goal; nil: there are none
	clean     func(text string) string   // takes secrets out; nil: nothing does

	mu     sync.Mutex
	offers map[offer][]llm.Function // the last lists that were asked for
}

// page is one prompt file.
type page struct {
	ID        string   `yaml:"id"`
	Version   string   `yaml:"version"`
	Model     string   `yaml:"model"` // main or fast
	Functions []string `yaml:"functions"`
	text      *template.Template
	hash      string
}

// purposes that have a prompt file.
var purposes = []llm.Purpose{llm.Intake, llm.Plan, llm.Work, llm.CheckIn, llm.Judge, llm.Report, llm.Hear, llm.Compact}

// Open reads the prompts that are built in. An error is a defect of the build.
func Open() (*Book, error) {
	functions, err := readFunctions()
	if err != nil {
		return nil, err
	}
	b := &Book{prompts: map[llm.Purpose]page{}, functions: functions}
	for _, p := range purposes {
		data, err := files.ReadFile("files/" + string(p) + ".md")
		if err != nil {
			return nil, fmt.Errorf("prompt %s: %w", p, err)
		}
		pg, err := parse(data)
		if err != nil {
			return nil, fmt.Errorf("prompt %s: %w", p, err)
		}
		for _, f := range pg.Functions {
			if _, known := functions[f]; !known {
				return nil, fmt.Errorf("prompt %s offers the function %q, which functions.json does not have", p, f)
			}
		}
		b.prompts[p] = pg
	}
	return b, nil
}

// Schedules offers the function that keeps a schedule, to runs whose goal may be
// one. It is called before the book is used.
func (b *Book) Schedules() { b.schedules = true }

// Thinks asks for a thought with each call of a tool. It is called before the book
// is used.
func (b *Book) Thinks() { b.thoughts = true }

// Playbooks shows the planner those that fit a goal. It is called before the book is
// used.
func (b *Book) Playbooks(fitting func(goal string) []string) { b.playbooks = fitting }

// Redacts takes secrets out of all that a model is sent. It is called before the
// book is used.
func (b *Book) Redacts(clean func(text string) string) { b.clean = clean }

// redacted is a message without secrets. What the model itself wrote stays: it can
// hold none that it was not sent.
func (b *Book) redacted(m llm.Message) llm.Message {
	if b.clean != nil && m.Role != llm.Assistant {
		m.Content = b.clean(m.Content)
	}
	return m
}

// parse reads a prompt file: YAML between two lines of "---", then templates
// named "system" and "brief".
func parse(data []byte) (page, error) {
	var p page
	head, body, ok := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
	if !ok {
		return p, errors.New("the file has no head between two lines of ---")
	}
	dec := yaml.NewDecoder(strings.NewReader(head))
	dec.KnownFields(true)
	if err := dec.Decode(&p); err != nil {
		return p, err
	}
	text, err := template.New(p.ID).Parse(body)
	if err != nil {
		return p, err
	}
	for _, part := range []string{"system", "brief"} {
		if text.Lookup(part) == nil {
			return p, fmt.Errorf("the file defines no %q", part)
		}
	}
	sum := sha256.Sum256(data)
	p.text, p.hash = text, p.ID+"@"+p.Version+":"+hex.EncodeToString(sum[:6])
	return p, nil
}

// readFunctions reads the functions of MODEL.md that are decisions; the shape
// of a task is kept once, in task.json.
func readFunctions() (map[string]llm.Function, error) {
	list, err := files.ReadFile("files/functions.json")
	if err != nil {
		return nil, err
	}
	task, err := files.ReadFile("files/task.json")
	if err != nil {
		return nil, err
	}
	list = bytes.ReplaceAll(list, []byte(`{"$TASK": true}`), task)
	var fs []llm.Function
	if err := json.Unmarshal(list, &fs); err != nil {
		return nil, fmt.Errorf("functions.json: %w", err)
	}
	functions := map[string]llm.Function{}
	for _, f := range fs {
		var tight bytes.Buffer
		if err := json.Compact(&tight, f.Parameters); err != nil {
			return nil, fmt.Errorf("functions.json, %s: %w", f.Name, err)
		}
		f.Parameters = tight.Bytes()
		functions[f.Name] = f
	}
	return functions, nil
}

// Functions returns every decision function that some prompt offers.
func (b *Book) Functions() []llm.Function {
	all := make([]llm.Function, 0, len(b.functions))
	for _, f := range b.functions {
		all = append(all, f)
	}
	return all
}
