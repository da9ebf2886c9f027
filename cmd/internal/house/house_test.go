package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchitecture holds ARCHITECTURE.md against what this module imports.
func TestArchitecture(t *testing.T) {
	tree, err := readTree("../../..", onlyImports)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := checkFloors(tree, "../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}

// plan is a table as ARCHITECTURE.md has it.
const plan = `
| other | table | here | – |
|---|---|---|---|
| 9 | ` + "`elsewhere`" + ` | | ` + "`nothing`" + ` |

| floor | package | owns | may import |
|---|---|---|---|
| 3 | ` + "`top`" + ` | all | ` + "`low/...` · `middle`" + ` |
| 2 | ` + "`middle`" + ` | some | ` + "`low`" + ` |
| 1 | ` + "`low/...`" + ` | little | – |
| 1 | ` + "`low/deep`" + ` | least | ` + "`low`" + ` |
`

func TestFloors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ARCHITECTURE.md"), []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	sound := []room{{path: "top", imports: []string{"middle", "low/deep"}}, {path: "middle", imports: []string{"low"}},
		{path: "low"}, {path: "low/deep", imports: []string{"low"}}}
	tests := map[string]struct {
		tree []room
		want []string
	}{
		"sound": {tree: sound},
		"up": {
			tree: append(slices.Clone(sound), room{path: "low/other", imports: []string{"middle"}}),
			want: []string{"low/other: imports middle, which ARCHITECTURE.md does not let it"},
		},
		"a folder's own row": {
			tree: append(slices.Clone(sound[:3]), room{path: "low/deep", imports: []string{"middle"}}),
			want: []string{"low/deep: imports middle, which ARCHITECTURE.md does not let it"},
		},
		"unknown": {
			tree: append(slices.Clone(sound), room{path: "shed"}),
			want: []string{"shed: has no floor in ARCHITECTURE.md"},
		},
		"gone": {
			tree: slices.Clone(sound[1:]),
			want: []string{"ARCHITECTURE.md: there is no package top"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := checkFloors(tt.tree, dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("no table", func(t *testing.T) {
		got, err := checkFloors(sound, t.TempDir())
		if err != nil || len(got) != 1 {
			t.Errorf("got %v, %v; want one finding", got, err)
		}
	})
}

func TestRooms(t *testing.T) {
	many := make([]file, maxFiles+1)
	got := judgeRooms([]room{
		{path: "full", files: many},
		{path: "fits", files: many[1:], methods: map[string]int{"Fine": maxMethods, "God": maxMethods + 1}},
		{path: "long", files: []file{{name: "scroll.go", lines: maxLines + 1}, {name: "page.go", lines: maxLines}}},
	})
	want := []string{"full: ", "fits.God: ", "long/scroll.go: "}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want it about %q", got[i], want[i])
		}
	}
}

func TestClimbs(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.org/climb\n\ngo 1.26\n",
		"top.go":    "package climb\n\ntype up interface{ step() }\n\nfunc Top(u up) { middle(); bottom(); u.step() }\n",
		"middle.go": "package climb\n\nfunc middle() { bottom() }\n\nfunc landing() {}\n",
		"bottom.go": "package climb\n\nfunc bottom() { landing(); defer landing() }\n\ntype stair struct{}\n\nfunc (stair) step() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := readTree(dir, everything)
	if err != nil {
		t.Fatal(err)
	}
	got := climbOf(tree[0])
	if got.arrows != 4 || got.back != 1 || len(got.examples) != 1 {
		t.Errorf("got %d arrows, %d back %q; want 4, 1 and its name", got.arrows, got.back, got.examples)
	}
	if found := judgeClimbs(map[string]climb{"few": got, "many": {arrows: 20, back: 2}, "down": {arrows: 100, back: 9}}); len(found) != 1 {
		t.Errorf("got %q, want a finding about many", found)
	}
	if name, n := tree[0].largestType(); name != "stair" || n != 1 {
		t.Errorf("got %s with %d methods, want stair with 1", name, n)
	}
}
