package pack

// A pack taken over, and given up again.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/tools/pack"
	"github.com/deckhand-bot/deckhand/tools/source"
)

// add takes a pack over: its folder into the configuration, its tools pinned.
func (h Host) add(ctx context.Context, name, to string) error {
	cfg, err := h.Load()
	if err != nil {
		return err
	}
	dir, err := h.folder(name, to)
	if err != nil {
		return err
	}
	p, err := pack.Open(dir)
	if err != nil {
		return err
	}
	for _, other := range cfg.Packs {
		if o, err := pack.Open(other); err == nil && o.Name == p.Name && o.Dir != p.Dir {
			return fmt.Errorf("the configuration has a pack %s already, in %s: remove it first", p.Name, other)
		}
	}
	if !slices.ContainsFunc(cfg.Packs, func(other string) bool { return same(other, p.Dir) }) {
		if err := h.keep(func(list []string) []string { return append(list, h.relative(p.Dir)) }); err != nil {
			return err
		}
	}
	if err := h.pin(ctx, p.Name); err != nil {
		return h.Failed(fmt.Errorf("the pack is in %s, and its tools are pinned when they are first used: %w", h.File(), err))
	}
	c := p.Contents()
	fmt.Fprintf(h.Out, "added %s %s: %s, from %s\n", c.Name, c.Version, format.Count(len(c.Tools), "tool"), h.Printable(p.Dir))
	fmt.Fprintf(h.Err, "`deckhand pack show %s` shows them; a process that serves takes them up when it starts again\n", c.Name)
	return h.faults(p, nil)
}

// folder is where the pack is; one that comes with Deckhand is written there.
func (h Host) folder(name, to string) (string, error) {
	if isFolder(name) && to == "" {
		return name, nil
	}
	p, err := pack.OpenShipped(name)
	if err != nil {
		return "", err
	}
	if to == "" {
		to = filepath.Join(filepath.Dir(h.File()), "packs", name)
	}
	if there, err := pack.Open(to); err == nil && there.Name == name {
		return to, nil // it was taken over before, and may have been changed since
	}
	return to, p.Copy(to)
}

// pin accepts the tools of a pack as they are now.
func (h Host) pin(ctx context.Context, name string) error {
	return h.Beside(ctx, func(cfg config.Config, s app.Store) error {
		box, err := kit.NewToolsIn(cfg, s)
		if err != nil {
			return err
		}
		defer box.Close()
		_, err = box.Accept(ctx, name)
		return err
	})
}

// remove takes a pack out of the configuration, and forgets what was accepted of it.
func (h Host) remove(ctx context.Context, name string) error {
	cfg, err := h.Load()
	if err != nil {
		return err
	}
	dir := ""
	for _, d := range cfg.Packs {
		p, err := pack.Open(d)
		if err == nil && p.Name == name || err != nil && filepath.Base(d) == name || same(d, name) {
			dir = d
		}
	}
	if dir == "" {
		return fmt.Errorf("the configuration has no pack %q: `deckhand pack list` shows them", name)
	}
	base := filepath.Dir(h.File())
	err = h.keep(func(list []string) []string {
		return slices.DeleteFunc(list, func(entry string) bool {
			if !filepath.IsAbs(entry) {
				entry = filepath.Join(base, entry)
			}
			return same(entry, dir)
		})
	})
	if err != nil {
		return err
	}
	err = h.Beside(ctx, func(_ config.Config, s app.Store) error {
		pins, keeps := s.(source.Pins)
		if !keeps {
			return nil
		}
		return source.Forget(ctx, pins, name)
	})
	if err != nil {
		return h.Failed(err)
	}
	_, err = fmt.Fprintf(h.Out, "removed %s; its folder %s stays\n", h.Printable(name), h.Printable(dir))
	return err
}

// relative is a folder as the configuration file names it.
func (h Host) relative(dir string) string {
	base, err := filepath.Abs(filepath.Dir(h.File()))
	if err != nil {
		return dir
	}
	rel, err := filepath.Rel(base, dir)
	if err != nil {
		return dir
	}
	return filepath.ToSlash(rel)
}

// same reports whether two paths are one folder.
func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
