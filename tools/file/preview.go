package file

// What a person sees of a change before it is made.

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// What a preview shows at most, and which files are compared line by line.
const (
	shownLines   = 40
	shownBytes   = 3000
	comparedSize = 1 << 20
	around       = 2 // lines before and after a change
)

// startOfText is the start of a text as a Markdown block; it says what is left out.
func startOfText(text string) string {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return block("", all)
}

// block is the lines as a fenced block that they cannot close, with hidden
// characters made visible, followed by what was left out.
func block(language string, all []string) string {
	var b strings.Builder
	kept, cut := 0, false
	for _, line := range all {
		line = format.Visible(line)
		if kept == shownLines || b.Len() >= shownBytes {
			break
		}
		if room := shownBytes - b.Len(); len(line) > room {
			line, cut = strings.ToValidUTF8(line[:room], ""), true
		}
		b.WriteString(line + "\n")
		kept++
	}
	fence := "```"
	for strings.Contains(b.String(), fence) {
		fence += "`"
	}
	out := fence + language + "\n" + b.String() + fence
	switch {
	case kept < len(all):
		out += fmt.Sprintf("\n\nShortened: %s of %s shown.", format.Thousands(kept), format.Count(len(all), "line"))
	case cut:
		out += "\n\nShortened: the last line shown goes on."
	}
	return out
}

// difference describes how the text differs from the file as it is.
func difference(ctx context.Context, f *workspace.Folder, t target, before workspace.State) (string, error) {
	if before.Size > comparedSize || len(t.Text) > comparedSize {
		return "The files are too large to compare. The new content starts with:\n\n" + startOfText(t.Text), nil
	}
	file, _, err := f.Read(t.Path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	old, err := io.ReadAll(io.LimitReader(workspace.Bound(ctx, file), comparedSize))
	if err != nil {
		return "", fmt.Errorf("%s: reading what is to be replaced: %w", t.Path, err)
	}
	if binary(old) {
		return "The present content is binary. The new content starts with:\n\n" + startOfText(t.Text), nil
	}
	return block("diff", unified(string(old), t.Text, around)), nil
}
