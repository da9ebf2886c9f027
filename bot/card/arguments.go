package card

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// A call's arguments as people can read them: JSON becomes names with values,
// and every hidden character is written out.

// How much of a call's arguments is shown. Where a preview is shown as well, or
// the whole stands above, the beginning is enough to know a value again.
const (
	shortValue  = 120 // characters of one line beside its name
	longValue   = 1500
	besideValue = 200
	maxValues   = 20
)

// arguments are a call's arguments in readable form: short ones as name and
// value, long ones as a text of their own that says how much of it is shown:
// no more than the given number of characters each, with the whole attached.
func arguments(c agent.Checkpoint, most int) []bot.Part {
	var brief []bot.Fact
	var long []bot.Part
	all := namedValues(c.Arguments)
	for _, v := range all[:min(len(all), maxValues)] {
		value := format.Exact(v.value)
		if utf8.RuneCountInString(value) <= shortValue && !strings.ContainsAny(value, "\n\t") {
			if value == "" {
				value = "(empty)"
			}
			brief = append(brief, bot.Fact{Name: format.Visible(v.name), Value: value})
			continue
		}
		head := format.First(value, most)
		part := bot.Code{Text: value}
		title := fmt.Sprintf("%s (%s)", text.Escape(format.Visible(v.name)), format.Count(utf8.RuneCountInString(v.value), "character"))
		if head != value {
			part.First = most
			title = fmt.Sprintf("%s (the first %s of %s characters)", text.Escape(format.Visible(v.name)),
				format.Thousands(int64(utf8.RuneCountInString(head))), format.Thousands(int64(utf8.RuneCountInString(v.value))))
		}
		long = append(long, bot.Small{Markdown: title}, part)
	}
	if more := len(all) - maxValues; more > 0 {
		var rest strings.Builder
		for _, v := range all[maxValues:] {
			rest.WriteString(format.Visible(v.name) + ": " + format.Exact(v.value) + "\n")
		}
		long = append(long, bot.Small{Markdown: fmt.Sprintf("%s not shown: Edit shows all of them", format.Count(more, "more value"))},
			bot.Code{Text: rest.String(), Most: -1})
	}
	if len(brief) == 0 {
		return long
	}
	return append([]bot.Part{bot.Facts{List: brief}}, long...)
}

// maxOrigins is how many origins of arguments are shown.
const maxOrigins = 4

// origins says where arguments came from, where that is why people are asked.
func origins(c agent.Checkpoint) []bot.Part {
	var lines []string
	for _, s := range c.Sources[:min(len(c.Sources), maxOrigins)] {
		lines = append(lines, origin(s))
	}
	if more := len(c.Sources) - maxOrigins; more > 0 {
		lines = append(lines, format.Count(more, "more argument")+" like that")
	}
	if len(lines) == 0 {
		return nil
	}
	return []bot.Part{bot.Prose{Markdown: strings.Join(lines, text.NextLine)}}
}

// origin is one of them in a line.
func origin(s agent.Source) string {
	argument, from := "**"+text.Quoted(s.Argument, 60)+"**", text.Quoted(s.From, 120)
	if s.Argument == "" {
		argument = "**This**"
	}
	var line string
	switch s.Origin {
	case agent.OriginPrivate:
		line = argument + " carries private data from " + from
	case agent.OriginUnknown:
		line = argument + " is in nobody's words that I can find; a model wrote it after it read " + from
	default:
		line = argument + " comes from " + from
	}
	if s.Through != "" {
		line += " (" + text.Quoted(s.Through, 60) + ")"
	}
	if s.Tool != "" && s.Tool != s.From {
		line += ", which " + text.Quoted(s.Tool, 64) + " read"
	}
	if s.Quote == "" {
		return line + "."
	}
	return line + ": «" + text.Quoted(s.Quote, 160) + "»"
}

// namedValue is one argument: nested names are joined by dots, lists of plain
// values by commas.
type namedValue struct{ name, value string }

func namedValues(raw json.RawMessage) []namedValue {
	if len(raw) == 0 {
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return []namedValue{{"arguments", string(raw)}}
	}
	return members("", object)
}

func members(prefix string, object map[string]json.RawMessage) []namedValue {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []namedValue
	for _, name := range names {
		list = append(list, valuesOf(prefix+name, object[name])...)
	}
	return list
}

func valuesOf(name string, raw json.RawMessage) []namedValue {
	var text string
	if json.Unmarshal(raw, &text) == nil && strings.HasPrefix(string(raw), `"`) {
		return []namedValue{{name, text}}
	}
	var object map[string]json.RawMessage
	if strings.HasPrefix(string(raw), "{") && json.Unmarshal(raw, &object) == nil && len(object) > 0 {
		return members(name+".", object)
	}
	var items []json.RawMessage
	if strings.HasPrefix(string(raw), "[") && json.Unmarshal(raw, &items) == nil {
		return itemsOf(name, items)
	}
	switch string(raw) {
	case "null":
		return []namedValue{{name, "none"}}
	case "true":
		return []namedValue{{name, "yes"}}
	case "false":
		return []namedValue{{name, "no"}}
	case "{}":
		return []namedValue{{name, ""}}
	}
	return []namedValue{{name, string(raw)}}
}

// itemsOf is a list: on one line where every item is short and plain.
func itemsOf(name string, items []json.RawMessage) []namedValue {
	var list []namedValue
	var words []string
	for i, raw := range items {
		at := fmt.Sprintf("%s[%d]", name, i+1)
		in := valuesOf(at, raw)
		list = append(list, in...)
		if len(in) == 1 && in[0].name == at && !strings.ContainsAny(in[0].value, ",\n") {
			words = append(words, in[0].value)
		}
	}
	if len(words) == len(items) {
		return []namedValue{{name, strings.Join(words, ", ")}}
	}
	return list
}
