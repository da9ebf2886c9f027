package web

// This file picks the parts of a long text that a question is about: paragraphs
// under their headings, ranked by their words as tools are.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/tools/find"
)

// Sizes of passages, in bytes.
const (
	shortPassage = 300
	longPassage  = 1500
)

// passage is a part of a text, and the heading above it.
type passage struct{ heading, text string }

// passages are the parts of a text that are nearest to a question, in their order,
// most bytes of them altogether.
func passages(text, question string, most int) string {
	all := split(text)
	list := make([]find.Tool, len(all))
	for i, p := range all {
		list[i] = find.Tool{Name: "p" + strconv.Itoa(i), Description: p.text, Notes: []string{p.heading}}
	}
	var chosen []int
	left := most
	for _, m := range find.New(list).Rank(question, len(all)) {
		i, err := strconv.Atoi(strings.TrimPrefix(m.Name, "p"))
		if err != nil || len(all[i].text) > left {
			continue
		}
		chosen, left = append(chosen, i), left-len(all[i].text)
	}
	if len(chosen) == 0 { // no word of the question is there
		return strings.ToValidUTF8(text[:min(len(text), most)], "") + "\n[no passage has a word of the question: this is the beginning]"
	}
	slices.Sort(chosen)
	var b strings.Builder
	heading := ""
	for n, i := range chosen {
		if n > 0 && chosen[n-1] != i-1 {
			b.WriteString("[…]\n\n")
		}
		if h := all[i].heading; h != "" && h != heading {
			b.WriteString(h + "\n\n")
			heading = h
		}
		b.WriteString(all[i].text + "\n\n")
	}
	return strings.TrimSpace(b.String())
}

// split takes a text apart: at its headings and empty lines, into parts that are
// neither very short nor very long.
func split(text string) []passage {
	var list []passage
	heading, part := "", ""
	end := func() {
		for len(part) > 0 {
			n := len(part)
			if n > longPassage {
				n = cutAt(part, longPassage)
			}
			if t := strings.TrimSpace(part[:n]); t != "" {
				list = append(list, passage{heading, t})
			}
			part = part[n:]
		}
	}
	for block := range strings.SplitSeq(text, "\n\n") {
		block = strings.Trim(block, "\n")
		if strings.HasPrefix(block, "#") && !strings.Contains(block, "\n") {
			end()
			heading = block
			continue
		}
		if len(part) >= shortPassage {
			end()
		}
		part = strings.TrimLeft(part+"\n\n"+block, "\n")
	}
	end()
	return list
}

// cutAt is where a text is cut that may have so many bytes: behind a line, a
// sentence or a word.
func cutAt(s string, most int) int {
	for _, end := range []string{"\n", ". ", " "} {
		if i := strings.LastIndex(s[:most], end); i > most/2 {
			return i + len(end)
		}
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return most
}
