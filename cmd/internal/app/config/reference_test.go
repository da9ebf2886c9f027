package config

import (
	"os"
	"strings"
	"testing"
)

// cells are how docs/configuration.md writes a key: its type with the unit, its
// default and its variable.
func (k Key) cells() [3]string {
	list := [3]string{k.Kind, "–", "–"}
	if words, is := strings.CutPrefix(k.Kind, "words: "); is {
		list[0] = "`" + strings.ReplaceAll(words, ", ", "`, `") + "`"
	}
	if k.Unit != "" {
		list[0] += ", " + k.Unit
	}
	switch {
	case k.Required:
		list[1] = "required"
	case k.Default != "":
		list[1] = "`" + k.Default + "`"
	}
	if k.Env != "" {
		list[2] = "`" + k.Env + "`"
	}
	return list
}

// TestReference holds docs/configuration.md against the keys that there are.
func TestReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][3]string{}
	inside := false
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			inside = false
		case strings.Join(row, ",") == "key,type,default,variable,meaning":
			inside = true
		case !inside || !strings.HasPrefix(row[0], "`"):
		case len(row) != 5 || row[4] == "":
			t.Errorf("%q needs five cells: key, type, default, variable, meaning", line)
		default:
			key := strings.Trim(row[0], "`")
			if _, twice := documented[key]; twice {
				t.Errorf("%s is documented twice", key)
			}
			documented[key] = [3]string(row[1:4])
		}
	}
	for _, k := range Keys() {
		if got := documented[k.Path]; got != k.cells() {
			t.Errorf("%s is documented as %q, want | `%s` | %s |", k.Path, got, k.Path, strings.Join(append([]string{}, k.cells()[0], k.cells()[1], k.cells()[2]), " | "))
		}
		delete(documented, k.Path)
	}
	for key := range documented {
		t.Errorf("%s is documented, and there is no such key", key)
	}
}
