package pack

// The packs that come with the program, as data.

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

//go:embed shipped
var shipped embed.FS

const shippedDir = "shipped"

// Shipped are the names of the packs that come with the program.
func Shipped() []string {
	entries, _ := fs.ReadDir(shipped, shippedDir) // it was built in
	list := make([]string, 0, len(entries))
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// errNotShipped is said of a name that no shipped pack has.
var errNotShipped = errors.New("is no folder, and no pack that comes with Deckhand")

// OpenShipped reads a pack that comes with the program.
func OpenShipped(name string) (*Pack, error) {
	sub, err := fs.Sub(shipped, shippedDir+"/"+name)
	if err == nil {
		_, err = fs.Stat(sub, manifestFile)
	}
	if err != nil || strings.ContainsAny(name, `/\.`) {
		hint := ""
		if near := format.Nearest(name, Shipped(), 3); near != "" {
			hint = fmt.Sprintf(": did you mean %s?", near)
		}
		return nil, fmt.Errorf("%s %w (%s)%s", name, errNotShipped, strings.Join(Shipped(), ", "), hint)
	}
	return read(sub, "")
}

// Copy writes all files of the pack into a folder that is not there yet.
func (p *Pack) Copy(dir string) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already: remove it, or name another folder", dir)
	}
	for name := range p.files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		text, err := p.content(name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
