package card

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

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

// Phrase says in a few words what a call does, with the argument that tells it
// from others. It is for places that the requester alone sees: a card in a
// thread names tools without arguments.
func Phrase(tool string, arguments json.RawMessage) string {
	values := namedValues(arguments)
	phrase, known := phrases[tool]
	if !known {
		name := strings.ReplaceAll(tool, "_", " ")
		short := func(v namedValue) bool { return v.value != "" && utf8.RuneCountInString(v.value) < maxPhrase }
		if i := slices.IndexFunc(values, short); i >= 0 {
			name += " " + values[i].value
		}
		return text.InLine(name, 2*maxPhrase)
	}
	before, name, _ := strings.Cut(phrase, "{")
	name, after, _ := strings.Cut(name, "}")
	for _, v := range values {
		if v.name == name && v.value != "" {
			return before + text.InLine(v.value, maxPhrase) + after
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(before), " in") // an optional argument that is absent
}
