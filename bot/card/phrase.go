package card

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// A call in a few words of plain English, for places that only the requester
// sees.

// maxPhrase is how many characters of an argument a phrase shows.
const maxPhrase = 60

// phrases say what a tool is doing; {name} stands for an argument. Tools that
// are not listed are named, with their first short argument.
var phrases = map[string]string{
	"read_file":      "reading {path}",
	"write_to_file":  "writing {path}",
	"append_to_file": "appending to {path}",
	"delete_file":    "deleting {path}",
	"list_files":     "listing files in {path}",
	"search_files":   "searching for {query}",
	"calculator":     "calculating {expression}",
	"run_code":       "running code",
	"plot":           "drawing {path}",
	"wait":           "waiting {seconds} s",
	"find_tools":     "looking for tools: {query}",
}

// wishes say what a tool is to do, as it follows "May I"; {name} stands for an
// argument.
var wishes = map[string]string{
	"write_to_file":  "write {path}",
	"append_to_file": "add to {path}",
	"delete_file":    "delete {path}",
	"run_code":       "run code",
	"plot":           "draw {path}",
}

// wish is what a call would do, as it follows "May I". It is asked of everybody
// who may decide: beside the file that it is about it has no arguments.
func wish(tool string, arguments json.RawMessage) string {
	form, known := wishes[tool]
	if !known {
		return "use " + toolName(tool)
	}
	if words, filled := fill(form, namedValues(arguments), maxPath); filled {
		return words
	}
	return "use " + toolName(tool)
}

// maxPath is how many characters of a path a question's title shows.
const maxPath = 100

// toolName is a tool as people call it: one of another source with its source.
func toolName(tool string) string {
	source, name, foreign := strings.Cut(tool, "__")
	if !foreign {
		return "“" + text.InLine(strings.ReplaceAll(tool, "_", " "), maxPhrase) + "”"
	}
	return "“" + text.InLine(strings.ReplaceAll(name, "_", " "), maxPhrase) + "” of " + text.InLine(strings.ReplaceAll(source, "_", " "), maxPhrase)
}

// fill puts an argument in its place in a form of words; filled says that it is there.
func fill(form string, values []namedValue, most int) (words string, filled bool) {
	before, name, wants := strings.Cut(form, "{")
	if !wants {
		return form, true
	}
	name, after, _ := strings.Cut(name, "}")
	for _, v := range values {
		if v.name == name && v.value != "" {
			return before + text.InLine(v.value, most) + after, true
		}
	}
	return before, false
}

// Phrase says in a few words what a call does, with the argument that tells it
// from others. It is for places that the requester alone sees: a card in a
// thread names tools without arguments.
func Phrase(tool string, arguments json.RawMessage) string {
	values := namedValues(arguments)
	phrase, known := phrases[tool]
	if !known {
		name := strings.ReplaceAll(tool, "__", ": ")
		name = strings.ReplaceAll(name, "_", " ")
		short := func(v namedValue) bool { return v.value != "" && utf8.RuneCountInString(v.value) < maxPhrase }
		if i := slices.IndexFunc(values, short); i >= 0 {
			name += " " + values[i].value
		}
		return text.InLine(name, 2*maxPhrase)
	}
	words, filled := fill(phrase, values, maxPhrase)
	if !filled { // an optional argument that is absent
		return strings.TrimSuffix(strings.TrimSpace(words), " in")
	}
	return words
}

// quotes are texts of others, each in a line of its own.
func quotes(texts []string) []string {
	list := make([]string, len(texts))
	for i, line := range texts {
		list[i] = text.Quoted(line, 400)
	}
	return list
}

// detail is the question's own explanation.
func detail(c agent.Checkpoint) []bot.Part {
	if strings.TrimSpace(c.Detail) == "" {
		return nil
	}
	return []bot.Part{bot.Prose{Markdown: strings.TrimSpace(text.Safe(c.Detail))}}
}
