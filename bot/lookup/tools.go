package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/use"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Tools are what runs have.
type Tools interface {
	Specs() []agent.ToolSpec
	Tool(name string) (agent.Tool, bool)
	Check(name string, arguments json.RawMessage) error
	Nearest(name string) []string
	Find(request string, n int) []agent.Match
}

// Shelf answers questions about tools. Its zero value has none.
type Shelf struct {
	Tools Tools
	// Accept takes over what a source says of its tools now, and returns what was
	// different, in words.
	Accept func(ctx context.Context, source string) ([]string, error)
	// Figures are what the calls of tools came to lately; nil: nobody counts.
	Figures func(ctx context.Context) (map[string]use.Figures, error)
}

// Bounds of an answer.
const (
	maxLines = 30
	maxFound = 5
	maxShown = 2800 // characters
	maxBrief = 110  // characters of a tool's description
)

// Usage is what stands behind the command.
const Usage = "tools list [SOURCE]` · `tools show NAME` · `tools search WORDS` · `tools check NAME {…}` · `tools accept SOURCE"

// Answer answers what stands behind the word "tools", as Markdown. Admin: the
// person may take over what changed.
func (s Shelf) Answer(ctx context.Context, line string, admin bool) (string, error) {
	if s.Tools == nil {
		return "Nobody here serves tools.", nil
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "", "list":
		return s.list(ctx, rest)
	case "show":
		return s.show(ctx, strings.Trim(rest, "`"))
	case "search", "find":
		return s.search(rest), nil
	case "check":
		return s.check(rest), nil
	case "accept":
		return s.accept(ctx, strings.Trim(rest, "`"), admin)
	}
	return "Say `" + Usage + "`.", nil
}

// list counts the tools of each source, or names those of one.
func (s Shelf) list(ctx context.Context, source string) (string, error) {
	figures, err := s.figures(ctx)
	if err != nil {
		return "", err
	}
	bySource := map[string][]agent.ToolSpec{}
	for _, t := range s.Tools.Specs() {
		bySource[t.Source] = append(bySource[t.Source], t)
	}
	if source == "" {
		var lines []string
		for _, from := range slices.Sorted(maps.Keys(bySource)) {
			lines = append(lines, fmt.Sprintf("- **%s**: %s", named(from), format.Count(len(bySource[from]), "tool")))
		}
		return bounded(append(lines, used(figures)...), "`tools list SOURCE` names those of one."), nil
	}
	if strings.EqualFold(source, named("")) {
		source = ""
	}
	list, is := bySource[source]
	if !is {
		return "There is no source " + text.Quoted(source, 60) + ". `tools list` names those that there are.", nil
	}
	lines := make([]string, len(list))
	for i, t := range list {
		lines[i] = fmt.Sprintf("- `%s` (%s): %s%s", t.Name, t.Class, text.Escape(format.LineStart(t.Description, maxBrief)), counted(figures[t.Name]))
	}
	return bounded(lines, "`tools show NAME` tells all about one."), nil
}

// named is a source in words.
func named(source string) string {
	if source == "" {
		return "built in"
	}
	return text.Escape(source)
}

// used are the tools that were called most, with what came of it.
func used(figures map[string]use.Figures) []string {
	names := slices.SortedFunc(maps.Keys(figures), func(a, b string) int {
		if d := figures[b].Calls - figures[a].Calls; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var lines []string
	for _, name := range names[:min(len(names), maxFound)] {
		lines = append(lines, "- `"+name+"`"+counted(figures[name]))
	}
	if len(lines) > 0 {
		lines = append([]string{"", "Called most of late:"}, lines...)
	}
	return lines
}

// counted is what the calls of a tool came to, empty: there were none.
func counted(f use.Figures) string {
	if f.Calls == 0 {
		return ""
	}
	line := fmt.Sprintf(" · %s, %d failed", format.Count(f.Calls, "call"), f.Failures)
	if share, known := f.UselessShare(); known {
		line += fmt.Sprintf(", %.0f %% of no use", 100*share)
	}
	return line + fmt.Sprintf(", %s a call, $%.4f", (f.Took/time.Duration(f.Calls)).Round(time.Millisecond), float64(f.Cost)/float64(agent.Dollar))
}

// bounded is a list of lines within its bound.
func bounded(lines []string, more string) string {
	if len(lines) == 0 {
		return "There are no tools."
	}
	if left := len(lines) - maxLines; left > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("- … and %d more", left))
	}
	return strings.Join(lines, "\n") + "\n\n" + more
}

func (s Shelf) figures(ctx context.Context) (map[string]use.Figures, error) {
	if s.Figures == nil {
		return nil, nil //nolint:nilnil // nobody counts
	}
	return s.Figures(ctx)
}

// show tells all about a tool.
func (s Shelf) show(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "Say which: `tools show NAME`.", nil
	}
	tool, is := s.Tools.Tool(name)
	if !is {
		return s.unknown(name), nil
	}
	figures, err := s.figures(ctx)
	if err != nil {
		return "", err
	}
	documentation := ""
	if d, says := tool.(agent.Documented); says {
		documentation = d.Documentation(ctx)
	}
	help := format.Cut(format.Visible(tool.Spec().Help(documentation)), maxShown)
	return "```\n" + strings.ReplaceAll(help, "```", "'''") + "\n```" + strings.TrimPrefix(counted(figures[name]), " ·"), nil
}

// unknown says that there is no such tool, and which are like it.
func (s Shelf) unknown(name string) string {
	line := "There is no tool " + text.Quoted(name, 60) + "."
	if near := s.Tools.Nearest(name); len(near) > 0 {
		line += " There is `" + strings.Join(near[:min(len(near), maxFound)], "`, `") + "`."
	}
	return line
}

// search finds tools by words.
func (s Shelf) search(words string) string {
	if words == "" {
		return "Say what you look for: `tools search WORDS`."
	}
	var lines []string
	for _, m := range s.Tools.Find(words, maxFound) {
		if tool, is := s.Tools.Tool(m.Name); is {
			lines = append(lines, fmt.Sprintf("- `%s` (%.2f): %s", m.Name, m.Score, text.Escape(format.LineStart(tool.Spec().Description, maxBrief))))
		}
	}
	if len(lines) == 0 {
		return "No tool fits that. Say it in other words, or look at `tools list`."
	}
	return strings.Join(lines, "\n")
}

// check holds arguments against a tool's schema, and calls nothing.
func (s Shelf) check(rest string) string {
	name, arguments, _ := strings.Cut(rest, " ")
	name, arguments = strings.Trim(name, "`"), strings.Trim(strings.TrimSpace(arguments), "`")
	if name == "" || arguments == "" {
		return "Say the tool and its arguments: `tools check NAME {\"argument\": …}`."
	}
	if _, is := s.Tools.Tool(name); !is {
		return s.unknown(name)
	}
	if err := s.Tools.Check(name, json.RawMessage(arguments)); err != nil {
		return text.Escape(err.Error())
	}
	return "Those arguments fit `" + name + "`. Nothing was called."
}

// accept takes over what a source says now.
func (s Shelf) accept(ctx context.Context, source string, admin bool) (string, error) {
	switch {
	case !admin:
		return "Only the administrators of this installation (`authority.admins`) may take over what a source changed.", nil
	case source == "" || s.Accept == nil:
		return "Say which source: `tools accept SOURCE`.", nil
	}
	changed, err := s.Accept(ctx, source)
	if err != nil {
		return text.Escape(err.Error()), nil
	}
	if len(changed) == 0 {
		return "Nothing of " + named(source) + " waits to be taken over.", nil
	}
	return fmt.Sprintf("Took over %s of %s:\n%s", format.Count(len(changed), "changed tool"), named(source), Difference(changed)), nil
}

// Difference shows what tools said and say now.
func Difference(changed []string) string {
	whole := format.Cut(format.Visible(strings.Join(changed, "\n")), maxShown)
	return "```\n" + strings.ReplaceAll(whole, "```", "'''") + "\n```"
}
