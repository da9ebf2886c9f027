package openapi

// This file reads a document into its parts. Each part stays text until it is
// needed.

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// document is a document in its parts.
type document struct {
	top
	sum        [sha256.Size]byte
	base       *url.URL
	client     *http.Client
	operations []*operation // sorted by path and method
	byName     map[string]*operation
	reading    sync.Mutex     // of schemas
	schemas    map[string]any // references, read
}

// top is the document's first level, and its components one level further.
type top struct {
	OpenAPI string `json:"openapi"`
	Swagger string `json:"swagger"`
	Info    struct {
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"info"`
	Servers    []server                              `json:"servers"`
	Paths      map[string]json.RawMessage            `json:"paths"`
	Components map[string]map[string]json.RawMessage `json:"components"`
}

type server struct {
	URL       string `json:"url"`
	Variables map[string]struct {
		Default string `json:"default"`
	} `json:"variables"`
}

// methods are those of operations, in the order in which they are listed.
var methods = []string{"get", "head", "post", "put", "patch", "delete", "options", "trace"}

// parse reads a document of JSON or YAML.
func parse(data []byte) (*document, error) {
	d := &document{sum: sha256.Sum256(data), byName: map[string]*operation{}, schemas: map[string]any{}}
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	if text[0] != '{' {
		var err error
		if text, err = fromYAML(text); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(text, &d.top); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	switch {
	case d.Swagger != "":
		return nil, fmt.Errorf("it is Swagger %s: convert it to OpenAPI 3", d.Swagger)
	case !strings.HasPrefix(d.OpenAPI, "3."):
		return nil, fmt.Errorf("it says openapi: %q, only 3.x is understood", d.OpenAPI)
	}
	if err := d.collect(); err != nil {
		return nil, err
	}
	if len(d.operations) == 0 {
		return nil, errors.New("it has no operations")
	}
	return d, nil
}

// fromYAML is a YAML text as JSON. Its aliases are bounded by the library.
func fromYAML(text []byte) ([]byte, error) {
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("it is neither JSON nor YAML: %w", err)
	}
	out, err := json.Marshal(jsonable(v, 0))
	if err != nil {
		return nil, fmt.Errorf("its YAML says what JSON cannot: %w", err)
	}
	return out, nil
}

// maxNesting is how deep a YAML document may be nested.
const maxNesting = 100

// jsonable has texts for the keys of maps: responses are written as numbers.
func jsonable(v any, depth int) any {
	if depth > maxNesting {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = jsonable(e, depth+1)
		}
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[fmt.Sprint(k)] = jsonable(e, depth+1)
		}
		return m
	case []any:
		for i, e := range v {
			v[i] = jsonable(e, depth+1)
		}
	}
	return v
}

// collect reads the operations. The second of one name is named by its method and
// path.
func (d *document) collect() error {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		if !strings.HasPrefix(path, "/") {
			continue // an extension
		}
		item, err := d.item(d.Paths[path])
		if err != nil {
			return fmt.Errorf("its path %s: %w", path, err)
		}
		var shared []json.RawMessage
		if raw, has := item["parameters"]; has {
			if err := json.Unmarshal(raw, &shared); err != nil {
				return fmt.Errorf("its path %s: the parameters: %w", path, err)
			}
		}
		for _, method := range methods {
			raw, has := item[method]
			if !has {
				continue
			}
			if err := d.add(path, method, raw, shared); err != nil {
				return err
			}
		}
	}
	d.Paths = nil
	return nil
}

// add reads one operation and gives it a name of its own.
func (d *document) add(path, method string, raw json.RawMessage, shared []json.RawMessage) error {
	o, err := d.operation(path, method, raw, shared)
	if err != nil {
		return fmt.Errorf("its operation %s %s: %w", strings.ToUpper(method), path, err)
	}
	if _, taken := d.byName[o.name]; taken {
		o.name = methodAndPath(method, path)
	}
	if _, taken := d.byName[o.name]; taken {
		return fmt.Errorf("two operations have the name %q, and another has the name that one of them would get", o.name)
	}
	d.byName[o.name] = o
	if d.operations = append(d.operations, o); len(d.operations) > maxOperations {
		return fmt.Errorf("it has more than %d operations", maxOperations)
	}
	return nil
}

// item is a path's entry, which may be a reference.
func (d *document) item(raw json.RawMessage) (map[string]json.RawMessage, error) {
	for range 8 {
		var item map[string]json.RawMessage
		if err := json.Unmarshal(raw, &item); err != nil {
			return nil, err
		}
		ref, is := item["$ref"]
		if !is {
			return item, nil
		}
		var err error
		if raw, err = d.referred(ref); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("its references go round in a circle")
}

// errElsewhere is said of references out of the document.
var errElsewhere = errors.New("it refers to another document, which is not followed: bundle the document into one file")

// referred is what a reference, as JSON, stands for.
func (d *document) referred(ref json.RawMessage) (json.RawMessage, error) {
	var text string
	if err := json.Unmarshal(ref, &text); err != nil {
		return nil, fmt.Errorf("its reference is no text: %w", err)
	}
	return d.at(text)
}

// at is what a reference within the document stands for.
func (d *document) at(ref string) (json.RawMessage, error) {
	pointer, own := strings.CutPrefix(ref, "#/")
	if !own {
		return nil, fmt.Errorf("%w (%s)", errElsewhere, ref)
	}
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		if unescaped, err := url.PathUnescape(p); err == nil {
			p = unescaped
		}
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	var raw json.RawMessage
	found := false
	switch {
	case len(parts) >= 3 && parts[0] == "components":
		raw, found = d.Components[parts[1]][parts[2]]
		parts = parts[min(3, len(parts)):]
	case len(parts) >= 2 && parts[0] == "paths":
		raw, found = d.Paths[parts[1]]
		parts = parts[min(2, len(parts)):]
	}
	for _, p := range parts {
		if !found {
			break
		}
		var level map[string]json.RawMessage
		if json.Unmarshal(raw, &level) != nil {
			return nil, fmt.Errorf("there is no %s", ref)
		}
		raw, found = level[p]
	}
	if !found {
		return nil, fmt.Errorf("there is no %s", ref)
	}
	return raw, nil
}

// resolved is a part of the document, whose references are followed.
func (d *document) resolved(raw json.RawMessage, into any) error {
	for range 8 {
		var r struct {
			Ref json.RawMessage `json:"$ref"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		if r.Ref == nil {
			return json.Unmarshal(raw, into)
		}
		var err error
		if raw, err = d.referred(r.Ref); err != nil {
			return err
		}
	}
	return errors.New("its references go round in a circle")
}

// same reports whether the text is that of the document.
func (d *document) same(data []byte) bool { return d.sum == sha256.Sum256(data) }

// title is the document's name for people.
func (d *document) title() string { return strings.TrimSpace(d.Info.Title + " " + d.Info.Version) }

// server is the document's first address, its variables replaced by their
// defaults.
func (d *document) server() string {
	if len(d.Servers) == 0 {
		return "/"
	}
	text := d.Servers[0].URL
	for name, v := range d.Servers[0].Variables {
		text = strings.ReplaceAll(text, "{"+name+"}", v.Default)
	}
	return text
}
