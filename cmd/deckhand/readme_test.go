package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// blocks are the fenced blocks of a language in the README.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	if len(list) < 2 {
		t.Fatalf("the README has %d blocks of %s", len(list), language)
	}
	return list
}

func TestReadmeConfiguration(t *testing.T) {
	t.Parallel()
	for _, block := range blocks(t, "yaml") {
		file := filepath.Join(t.TempDir(), "deckhand.yaml")
		if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadConfig(overrides{Config: file}, func(string) string { return "" }); err != nil {
			t.Errorf("%v\n%s", err, block)
		}
	}
}

func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	call := regexp.MustCompile(`(?m)^ *bin/deckhand ([a-z ]+[a-z])`)
	for _, block := range blocks(t, "sh") {
		for _, m := range call.FindAllStringSubmatch(block, -1) {
			root := (&app{}).root()
			c, rest, err := root.Find(strings.Fields(m[1]))
			if err != nil || c == root || (len(rest) > 0 && c.HasSubCommands() && c.RunE == nil) {
				t.Errorf("deckhand %s is no command: %v", m[1], err)
			}
		}
	}
}
