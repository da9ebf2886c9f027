package config

// This file finds what packs hold for others: folders of one name in each of them.

import (
	"os"
	"path/filepath"
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
