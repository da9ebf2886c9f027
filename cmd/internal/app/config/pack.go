package config

// This file reads what packs hold for others: folders of one name in each of them,
// and the servers and documents that a pack connects.

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
)

// PackFolders are the folders with the name ("roles", "playbooks", "skills") of the
// packs that have one, in the order of the configuration.
func (c Config) PackFolders(name string) []string {
	var list []string
	for _, dir := range c.Packs {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			list = append(list, p)
		}
	}
	return list
}

// Connections are servers and documents, in the shape that the configuration has for
// them.
type Connections struct {
	MCPServers map[string]MCPServer `yaml:"mcpServers" keys:"source"`
	OpenAPI    map[string]OpenAPI   `yaml:"openapi" keys:"source"`
}

// With are both together.
func (c Connections) With(more Connections) Connections {
	all := Connections{MCPServers: map[string]MCPServer{}, OpenAPI: map[string]OpenAPI{}}
	for _, one := range []Connections{c, more} {
		maps.Copy(all.MCPServers, one.MCPServers)
		maps.Copy(all.OpenAPI, one.OpenAPI)
	}
	return all
}

// ReadConnections reads a file that holds nothing else, YAML or JSON. Paths start at
// its own folder. The error is an *Error with every problem.
func ReadConnections(file string, env func(string) string) (Connections, error) {
	r := &reader{file: file, origin: origins{}}
	var c Connections
	text, err := readFile(file, maxConfig)
	if err != nil {
		r.problem(origin{name: file}, err.Error())
	} else {
		r.document(text, reflect.ValueOf(&c).Elem())
	}
	if len(r.problems) == 0 {
		whole := Config{MCPServers: c.MCPServers, OpenAPI: c.OpenAPI}
		r.refer(&whole, env)
	}
	if len(r.problems) > 0 {
		return Connections{}, &Error{inOrder(r.problems)}
	}
	return c, nil
}

// SkillFolders are the folders of skills: those that the configuration names, then
// those of the packs.
func (c Config) SkillFolders() []string {
	return append(slices.Clone(c.Skills), c.PackFolders("skills")...)
}
