package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	w, err := New(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	f, err := w.Open("slack-C1")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := f.Create("attachments/a.csv", write("1,2")); err != nil {
		t.Fatal(err)
	}
	if err := f.Create("attachments/a.csv", write("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file of the name: %v, want fs.ErrExist", err)
	}
	broken := errors.New("the far end hung up")
	err = f.Create("new/b.csv", func(w io.Writer) error { _ = write("half")(w); return broken })
	if !errors.Is(err, broken) {
		t.Errorf("half a file: %v", err)
	}
	for _, p := range []string{"../c.csv", "/c.csv", ""} {
		if err := f.Create(p, write("x")); err == nil {
			t.Errorf("%q was created", p)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "slack-C1", "attachments", "a.csv"))
	if err != nil || string(got) != "1,2" {
		t.Errorf("a.csv holds %q, %v", got, err)
	}
	var names []string
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, p)
		}
		return err
	})
	if err != nil || len(names) != 1 {
		t.Errorf("files %q, %v: want a.csv alone", names, err)
	}
}
