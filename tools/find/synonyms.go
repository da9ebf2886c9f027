package find

// This file reads the table of words that mean much the same.

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed synonyms.txt
var synonymTable string

// synonyms maps a stem to those that mean much the same. It is read when the
// first request comes.
var synonyms = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(synonymTable) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		oneWay := strings.HasPrefix(line, ">")
		group := make([]string, 0, 8)
		for w := range strings.FieldsSeq(strings.TrimPrefix(line, ">")) {
			group = append(group, stem(strings.ReplaceAll(w, "-", "")))
		}
		for i, w := range group {
			if oneWay && i > 0 {
				break
			}
			for _, other := range group {
				if other != w && !slices.Contains(m[w], other) {
					m[w] = append(m[w], other)
				}
			}
		}
	}
	return m
})
