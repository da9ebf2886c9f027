package playbook

import (
	"embed"
	"path"
	"strings"
	"sync"
)

//go:embed files
var shipped embed.FS

// origin stands before the paths of files that come with the program.
const origin = "shipped:"

// Shipped are the files of the roles and playbooks that come with the program.
var Shipped = sync.OnceValue(func() []File {
	var list []File
	for _, dir := range []string{"files/roles", "files/playbooks"} {
		entries, _ := shipped.ReadDir(dir) // embedded
		for _, e := range entries {
			data, _ := shipped.ReadFile(path.Join(dir, e.Name()))
			list = append(list, File{origin + strings.TrimPrefix(dir, "files/") + "/" + e.Name(), data})
		}
	}
	return list
})

// Rehearsal is the scenario that plays a shipped playbook without a model, with the
// goal that it is for: the text after "# goal: " in its first line.
func Rehearsal(name string) (goal string, scenario []byte, is bool) {
	data, err := shipped.ReadFile("files/rehearsals/" + name + ".yaml")
	if err != nil || !validName(name) {
		return "", nil, false
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, "# goal:")), data, true
}
