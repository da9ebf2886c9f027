package words

// This file reads the table once, and looks people's words up in it.

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed table.tsv
var table string

// Meaning is what words mean, said alone.
type Meaning string

// The meanings in the table.
const (
	Unknown Meaning = "" // a model has to read them
	Stop    Meaning = "stop"
	GoOn    Meaning = "go_on"
	Cancel  Meaning = "cancel"
	Status  Meaning = "status"
	Help    Meaning = "help"
	Yes     Meaning = "yes"
	No      Meaning = "no"

	polite Meaning = "polite"
)

// maxWords is how many words a text in the table has at most, with its politeness:
// longer ones are not looked up.
const maxWords = 16

// phrases are the table: what each text means, as spell writes it.
var phrases = sync.OnceValue(func() map[string]Meaning {
	all := map[string]Meaning{}
	for line := range strings.Lines(table) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(parts) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		for text := range strings.SplitSeq(parts[2], " | ") {
			all[spell(text)] = Meaning(parts[0])
		}
	}
	return all
})

// spell writes a text as the table compares it: small letters without accents,
// one space between words, and nothing that is neither letter nor number.
func spell(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’', r == '‘', r == '`', r == '´':
			continue // don't and dont, arrête and arrete
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			gap = true
			continue
		case gap && b.Len() > 0:
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// Of is what a text means that says nothing else, in any case and however politely:
// "Stop it, please!".
func Of(text string) Meaning {
	if says(text) {
		return Unknown
	}
	words := strings.Fields(spell(text))
	if len(words) == 0 || len(words) > maxWords {
		return Unknown
	}
	return meaning(words)
}

// says reports whether a text has signs that change what its words say: a
// question, a quotation, code.
func says(text string) bool { return strings.ContainsAny(text, "?？؟¿\"“”„«»`>/@#") }

// meaning looks words up, as they are and without the politeness around them.
func meaning(words []string) Meaning {
	all := phrases()
	if m := all[strings.Join(words, " ")]; m != Unknown && m != polite {
		return m
	}
	for n := min(len(words)-1, 4); n > 0; n-- {
		if all[strings.Join(words[:n], " ")] == polite {
			if m := meaning(words[n:]); m != Unknown {
				return m
			}
		}
		if all[strings.Join(words[len(words)-n:], " ")] == polite {
			if m := meaning(words[:len(words)-n]); m != Unknown {
				return m
			}
		}
	}
	return Unknown
}

// Hints are the meanings that words of a text have alone: what it may mean as a
// whole, for people.
func Hints(text string) []Meaning {
	words := strings.Fields(spell(text))
	words = words[:min(len(words), 4*maxWords)]
	var found []Meaning
	for i := range words {
		for n := min(3, len(words)-i); n > 0; n-- {
			m := phrases()[strings.Join(words[i:i+n], " ")]
			if m != Unknown && m != polite && !slices.Contains(found, m) {
				found = append(found, m)
			}
		}
	}
	return found
}

var percent = regexp.MustCompile(`^(?:(?:add|give it|give it another|raise it by|plus|noch|erhohe um|gib ihm noch|ajoute|ajoutez|plus|anade|suma|mas) )?(\d{1,4})(?: (?:percent|per cent|prozent|pour cent|por ciento))?(?: (?:more|mehr|drauf|de plus|mas))?$`)

// Percent is by how much a text raises a budget that says nothing else: "+50 %",
// "add 50 %", "noch 50 Prozent". 0: it says something else.
func Percent(text string) int {
	if says(text) {
		return 0
	}
	spelt := spell(strings.TrimRight(text, ".! "))
	words := strings.Fields(spelt)
	for len(words) > 1 && phrases()[words[0]] == polite {
		words = words[1:]
	}
	for len(words) > 1 && phrases()[words[len(words)-1]] == polite {
		words = words[:len(words)-1]
	}
	m := percent.FindStringSubmatch(strings.Join(words, " "))
	if m == nil || !strings.ContainsAny(text, "%％") && !strings.Contains(spelt, "cent") && !strings.Contains(spelt, "prozent") && !strings.Contains(spelt, "ciento") {
		return 0 // a number alone is a choice's
	}
	n, _ := strconv.Atoi(m[1]) // four digits
	return n
}
