package pack

import "testing"

// The list changes, and nothing else of the file.
func TestEdit(t *testing.T) {
	t.Parallel()
	add := func(list []string) []string { return append(list, "packs/business") }
	none := func([]string) []string { return nil }
	for _, c := range []struct {
		before, after string
		change        func([]string) []string
	}{
		{"", "packs: [packs/business]\n", add},
		{"# ours\nworkspace: .", "# ours\nworkspace: .\npacks: [packs/business]\n", add},
		{"packs: [a]  # one\n\n# more\nworkspace: .\n", "packs: [a, packs/business]\n\n# more\nworkspace: .\n", add},
		{"packs:\n  - a\n  - b: c\n", "", add},
		{"packs:\n  - a\n  - \"b c\"\nworkspace: .\n", "packs: [a, \"b c\", packs/business]\nworkspace: .\n", add},
		{"packs: [\n  a,\n  b\n]\nworkspace: .\n", "packs: [a, b, packs/business]\nworkspace: .\n", add},
		{"packs:\nworkspace: .\n", "packs: [packs/business]\nworkspace: .\n", add},
		{"packs: [a]\nworkspace: .\n", "workspace: .\n", none},
	} {
		got, err := edit([]byte(c.before), c.change)
		if string(got) != c.after || (err != nil) != (c.after == "") {
			t.Errorf("%q became %q, %v; want %q", c.before, got, err, c.after)
		}
	}
}
