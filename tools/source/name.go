package source

// This file makes the names of foreign tools: SOURCE__TOOL.

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// maxName is how long an endpoint lets a function's name be.
const maxName = 64

// separator stands between the name of a source and that of its tool.
const separator = "__"

// Qualify is the name of a source's tool: SOURCE__TOOL, every character that is
// no ASCII letter, digit, "_" or "-" replaced by "_". One above 64 characters is
// cut, and ends with six digits of the whole one's hash.
func Qualify(source, tool string) string {
	name := plain(source) + separator + plain(tool)
	if len(name) <= maxName {
		return name
	}
	return marked(name, source, tool)
}

// marked is the name with digits that tell it from others that look alike.
func marked(name, source, tool string) string {
	sum := sha256.Sum256([]byte(source + "\x00" + tool))
	mark := "_" + hex.EncodeToString(sum[:3])
	return name[:min(len(name), maxName-len(mark))] + mark
}

// plain replaces what names of functions may not have.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, s)
}

// names gives each bare name of a source its qualified one. Where two come to the
// same, the one that is written like it keeps it (else the first by the
// alphabet), and the other ends with digits of its hash: the order in which a
// source lists them changes nothing.
func names(source string, bare []string) map[string]string {
	sorted := slices.Clone(bare)
	slices.SortFunc(sorted, func(a, b string) int {
		aPlain, bPlain := plain(a) == a, plain(b) == b
		switch {
		case aPlain && !bPlain:
			return -1
		case bPlain && !aPlain:
			return 1
		}
		return strings.Compare(a, b)
	})
	given, taken := map[string]string{}, map[string]bool{}
	for _, tool := range slices.Compact(sorted) {
		name := Qualify(source, tool)
		if taken[name] {
			name = marked(plain(source)+separator+plain(tool), source, tool)
		}
		given[tool], taken[name] = name, true
	}
	return given
}
