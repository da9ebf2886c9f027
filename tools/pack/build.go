package pack

// A definition as a part of its pack: its schema, what it names, its hash.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools"
)

// ready completes a definition, and notes what of it does not fit its pack.
func (p *Pack) ready(f *file, d *definition) bool {
	before := len(f.faults)
	fault := func(text string, args ...any) { f.fault(d.line, "%s: %s", d.Name, fmt.Sprintf(text, args...)) }
	spec, err := d.spec()
	if err == nil {
		err = tools.Usable(spec)
	}
	if err != nil {
		fault("%v", err)
		return false
	}
	_, d.names, _ = d.schema() // it was right
	if len(spec.Example) > 0 {
		box, err := tools.New(described{spec})
		if err == nil {
			err = box.Check(d.Name, spec.Example)
		}
		if err != nil {
			fault("its example: %v", err)
		}
	}
	d.placed(fault, d.Preview)
	switch {
	case d.HTTP != nil:
		p.readyHTTP(d, fault)
	case d.Command != nil:
		d.readyCommand(fault)
	case d.Script != nil:
		p.readyScript(d, fault)
	case d.Data != nil:
		p.readyData(d, fault)
	}
	if len(f.faults) > before {
		return false
	}
	d.hash, err = p.fingerprint(d)
	if err != nil {
		fault("%v", err)
	}
	return err == nil
}

func (d *definition) readyCommand(fault func(string, ...any)) {
	d.placed(fault, append(d.Command.Run, d.Command.Input)...)
	if len(d.Command.Run) == 0 || strings.Contains(d.Command.Run[0], "{") {
		fault("command.run names the program and its arguments; the program is no argument")
	}
}

func (p *Pack) readyData(d *definition, fault func(string, ...any)) {
	if len(d.Data.SQL) == 0 {
		fault("data.sql is missing")
	}
	for _, r := range d.Data.Require {
		d.placed(fault, r.Else)
	}
	d.placed(fault, d.Data.None)
	if d.Effect != "read" && len(p.data.Rows)+len(p.data.Database) > 0 {
		fault("the dataset is only read: it has data.rows or data.database in %s", manifestFile)
	}
}

// described is a tool that only says what it is.
type described struct{ spec agent.ToolSpec }

func (d described) Spec() agent.ToolSpec { return d.spec }

func (described) Run(context.Context, agent.Call) agent.Result {
	return agent.Failed("it is only described")
}

// placed notes places of templates that no argument fills.
func (d *definition) placed(fault func(string, ...any), templates ...string) {
	for _, t := range templates {
		for _, name := range places(t) {
			if slices.Contains(d.names, name) {
				continue
			}
			hint := ""
			if near := format.Nearest(name, d.names, 3); near != "" {
				hint = fmt.Sprintf(", did you mean {%s}?", near)
			}
			fault("there is no argument for {%s}%s", name, hint)
		}
	}
}

// spec is the tool as it is offered.
func (d *definition) spec() (agent.ToolSpec, error) {
	schema, _, err := d.schema()
	if err != nil {
		return agent.ToolSpec{}, err
	}
	size, err := d.MaxResult.Bytes()
	if err != nil {
		return agent.ToolSpec{}, err
	}
	s := agent.ToolSpec{
		Name: d.Name, Description: strings.TrimSpace(d.Description), Parameters: schema,
		Class: effects[d.Effect], Repeat: repeats[d.Repeat], Trust: trusts[d.Trust], Private: d.Private,
		Timeout: d.Timeout, MaxResult: int(size), Open: d.HTTP != nil || d.Command != nil && len(d.Command.Network) > 0,
	}
	if s.Repeat == "" {
		s.Repeat = d.usual()
	}
	if s.Trust == "" && (d.HTTP != nil || d.Command != nil) {
		s.Trust = agent.Untrusted
	}
	if d.HTTP != nil && d.Effect != "read" {
		s.Deadline = max(d.Timeout, defaultTimeout) + intentGrace
	}
	if d.Example.Kind != 0 {
		s.Example, err = asJSON(&d.Example)
	}
	return s, err
}

// usual is what repeating a tool means that does not say it.
func (d *definition) usual() agent.Repeat {
	switch {
	case d.Effect == "read":
		return agent.RepeatRead
	case d.Data != nil:
		return agent.RepeatProbeable
	}
	return agent.RepeatOnce
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// readyHTTP looks at the address, the places and the variables of a request.
func (p *Pack) readyHTTP(d *definition, fault func(string, ...any)) {
	h := d.HTTP
	if h.Method == "" {
		h.Method = http.MethodGet
	}
	h.Method = strings.ToUpper(h.Method)
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, h.Method) {
		fault("http.method: %q is no method", h.Method)
	}
	if d.Effect == "read" && !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, h.Method) {
		fault("a %s is no read", h.Method)
	}
	host, err := hostOf(h.URL)
	switch {
	case err != nil:
		fault("http.url: %v", err)
	case !slices.Contains(p.Hosts, host) && !slices.Contains(p.Hosts, hostname(host)):
		fault("http.url leads to %s, which is not among the hosts of %s", host, manifestFile)
	}
	templates := h.templates()
	for _, t := range templates {
		for _, m := range variable.FindAllStringSubmatch(t, -1) {
			if !slices.Contains(p.Variables, m[1]) {
				fault("${%s} is not among the variables of %s", m[1], manifestFile)
			}
		}
	}
	for i, t := range templates {
		templates[i] = variable.ReplaceAllString(t, "")
	}
	d.placed(fault, templates...)
}

// templates are all texts of a request that may have places.
func (h *httpCall) templates() []string {
	list := []string{h.URL}
	for _, m := range []map[string]string{h.Query, h.Headers} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			list = append(list, m[name])
		}
	}
	walk(&h.Body, func(text string) { list = append(list, text) })
	return list
}

// hostOf is the host of an address, which no argument is part of, with its port
// where one is named.
func hostOf(address string) (string, error) {
	u, err := url.Parse(place.ReplaceAllString(address, "x"))
	start, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://"), "/")
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil:
		return "", fmt.Errorf("%q is no address such as https://api.example.com/v1/items/{id}", address)
	case strings.ContainsAny(start, "{}$"):
		return "", errors.New("the host stands in the file, and is no argument")
	}
	return u.Host, nil
}

func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return host
}

// walk calls do with every text of a node.
func walk(n *yaml.Node, do func(text string)) {
	if n.Kind == yaml.ScalarNode {
		do(n.Value)
	}
	for _, inner := range n.Content {
		walk(inner, do)
	}
}

func (p *Pack) readyScript(d *definition, fault func(string, ...any)) {
	s := d.Script
	if (s.File == "") == (s.Code == "") {
		fault("script needs a file or code, and only one")
		return
	}
	s.text = s.Code
	if s.File != "" {
		text, err := p.content(s.File)
		if err != nil {
			fault("script.file: %v", err)
		}
		s.text = string(text)
	}
}

// fingerprint is the hash of what stands behind a tool: its definition, the files
// that it runs, the rules of the dataset.
func (p *Pack) fingerprint(d *definition) (string, error) {
	plain := *d
	plain.names, plain.hash = nil, ""
	text, err := yaml.Marshal(plain)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, _ = h.Write(text) // never fails
	switch {
	case d.Script != nil:
		fmt.Fprintf(h, "\nscript %x", sha256.Sum256([]byte(d.Script.text)))
	case d.Command != nil:
		fmt.Fprintf(h, "\nprogram %s", p.sum(program))
	}
	if d.Data != nil || d.Script != nil && d.Script.SQL != "" {
		rules, err := yaml.Marshal(p.data)
		if err != nil {
			return "", err
		}
		_, _ = h.Write(rules)
	}
	if d.HTTP != nil {
		fmt.Fprintf(h, "\nhosts %q", p.Hosts)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
