package main

// The documentation and the program in step: what is shown as configuration is
// read, what is shown as a command exists with its flags, what is linked is
// there.

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// root is the project's folder, seen from here.
const root = "../.."

// documents are the files that people read, by their path in the project.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths := []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "helm/deckhand/README.md"}
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(found) < 9 {
		t.Fatalf("docs has %d pages: %v", len(found), err)
	}
	for _, path := range found {
		paths = append(paths, "docs/"+filepath.Base(path))
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// blocks are the fenced blocks of a language.
func blocks(text, language string) []string {
	var list []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

func TestDocumentedConfiguration(t *testing.T) {
	t.Parallel()
	read := 0
	for path, text := range documents(t) {
		for _, block := range blocks(text, "yaml") {
			read++
			if strings.Contains("\n"+block, "\nrules:") { // a policy
				if failures, cases, err := app.TestPolicy(path, []byte(block)); err != nil || len(failures) > 0 || cases == 0 {
					t.Errorf("%s: %d cases: %v %q", path, cases, err, failures)
				}
				continue
			}
			folder := t.TempDir()
			for _, m := range regexp.MustCompile(`\b[a-z]+_file: ([\w.-]+)`).FindAllStringSubmatch(block, -1) { // a secret beside it
				if err := os.WriteFile(filepath.Join(folder, m[1]), []byte("secret"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(folder, "deckhand.yaml")
			if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(config.Flags{Config: file}, func(string) string { return "" }); err != nil {
				t.Errorf("%s: %v\n%s", path, err, block)
			}
		}
	}
	if read < 5 {
		t.Errorf("only %d blocks of configuration were found", read)
	}
}

// mentioned are the commands that a text shows: in its blocks of sh, and
// wherever a code span begins with the program's name.
func mentioned(text string) []string {
	var list []string
	line := regexp.MustCompile(`(?m)^ *bin/deckhand +(.*)$`)
	for _, block := range blocks(text, "sh") {
		for _, m := range line.FindAllStringSubmatch(block, -1) {
			list = append(list, m[1])
		}
	}
	outside := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile("`(?:bin/)?deckhand +([^`]+)`").FindAllStringSubmatch(outside, -1) {
		list = append(list, strings.ReplaceAll(m[1], `\|`, "|"))
	}
	return list
}

// alternatives are the commands that "approve|deny CHECKPOINT" stands for.
func alternatives(words []string) [][]string {
	for i, word := range words {
		if !regexp.MustCompile(`^[a-z]+(\|[a-z]+)+$`).MatchString(word) {
			continue
		}
		var list [][]string
		for choice := range strings.SplitSeq(word, "|") {
			list = append(list, alternatives(slices.Concat(words[:i], []string{choice}, words[i+1:]))...)
		}
		return list
	}
	return [][]string{words}
}

func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	flag := regexp.MustCompile(`^--[a-z-]+`)
	for path, text := range documents(t) {
		for _, shown := range mentioned(text) {
			shown, _, _ = strings.Cut(shown, "#")
			shown, _, _ = strings.Cut(shown, `"`)
			for _, words := range alternatives(strings.Fields(shown)) {
				c := commandOf(t, path, words)
				seen[c.CommandPath()] = true
				for _, word := range words {
					if name := strings.TrimPrefix(flag.FindString(word), "--"); name != "" && name != "help" && c.Flag(name) == nil {
						t.Errorf("%s: `deckhand %s`: %s has no flag --%s", path, shown, c.CommandPath(), name)
					}
				}
			}
		}
	}
	for _, c := range (&cli{}).root().Commands() {
		if !seen[c.CommandPath()] && c.IsAvailableCommand() && c.Name() != "help" && !slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return seen[sub.CommandPath()] }) {
			t.Errorf("the documentation nowhere shows `%s`", c.CommandPath())
		}
	}
}

// commandOf is the command that the words name.
func commandOf(t *testing.T, path string, words []string) *cobra.Command {
	t.Helper()
	top := (&cli{}).root()
	c, rest, err := top.Find(words)
	lost := len(rest) > 0 && c != nil && c.HasSubCommands() && c.RunE == nil
	if err != nil || lost || (c == top && !strings.HasPrefix(words[0], "--")) {
		t.Errorf("%s: `deckhand %s` is no command: %v", path, strings.Join(words, " "), err)
		return top
	}
	return c
}

// anchors are the headings of a page as links name them.
func anchors(text string) []string {
	var list []string
	text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`(?m)^#+ +(.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(name, " ", "-"))
	}
	return list
}

func TestDocumentedLinks(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	checked := 0
	for path, text := range texts {
		text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			to, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if to.Scheme != "" {
				continue // of the world outside
			}
			checked++
			page := path
			if to.Path != "" {
				page = filepath.ToSlash(filepath.Join(filepath.Dir(path), to.Path))
			}
			if _, err := os.Stat(filepath.Join(root, page)); err != nil {
				t.Errorf("%s links to %s: there is no such file", path, m[1])
			} else if to.Fragment != "" && !slices.Contains(anchors(texts[page]), to.Fragment) {
				t.Errorf("%s links to %s: there is no such heading", path, m[1])
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d links were found", checked)
	}
}

// TestDocumentedTargets looks every target of make up that a page names.
func TestDocumentedTargets(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for path, text := range documents(t) {
		for _, m := range regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)").FindAllStringSubmatch(text, -1) {
			checked++
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
				t.Errorf("%s names `make %s`: the Makefile has no such target", path, m[1])
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d targets were found", checked)
	}
}

// TestDocumentedFiles looks for every file and folder of the tree that a page
// names; in a name with capitals the reader puts something of their own.
func TestDocumentedFiles(t *testing.T) {
	t.Parallel()
	checked := 0
	name := regexp.MustCompile("`((?:adapters|agent|bot|cmd|docs|helm|memory|tools)/[a-z0-9_./-]+)`")
	for path, text := range documents(t) {
		for _, m := range name.FindAllStringSubmatch(text, -1) {
			checked++
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(m[1], "/..."))); err != nil {
				t.Errorf("%s names %s: there is no such file", path, m[1])
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d names were found", checked)
	}
}

// The README is for a person who has ten minutes.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	if n := strings.Count(documents(t)["README.md"], "\n"); n > 150 {
		t.Errorf("README.md has %d lines, at most 150: what is more belongs into docs", n)
	}
}
