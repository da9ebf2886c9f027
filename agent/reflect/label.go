package reflect

import "strings"

// fleeting are the names of fields whose values differ from one time to the
// next, in lower case without separators.
var fleeting = words("id uuid guid pid ppid tid ts timestamp time now cursor nextcursor prevcursor endcursor startcursor " +
	"token nexttoken pagetoken nextpagetoken continuationtoken synctoken etag nonce receipt receipthandle duration elapsed " +
	"latency took uptime expires modified mtime atime ctime lastmodified lastseen xrequestid")

// endings are those of field names for ids and times: request_id, createdAt.
var endings = []string{"_id", "-id", "_at", "_time", "_ts", "_ms", "_cursor", "_token", "_ns", "_us", "_elapsed", "_duration"}

// apart are labels whose value may stand after a space alone: "pid 123".
var apart = words("pid receipt")

const longestApart = len("receipt")

// labelled looks at what follows a word: where the word labels a value that
// differs from one time to the next, it returns how many bytes lie between and
// how long the value is.
func labelled(word, rest string) (between, value int) {
	n := 0
	if n < len(rest) && (rest[n] == '"' || rest[n] == '\'') {
		n++
	}
	n += span(rest[n:], space)
	switch {
	case n < len(rest) && (rest[n] == ':' || rest[n] == '='):
		if !isFleeting(word) {
			return 0, 0
		}
		n++
	case n > 0 && rest[n-1] == ' ' && len(word) <= longestApart && apart[strings.ToLower(word)]:
		return spaced(rest, n)
	default:
		return 0, 0
	}
	n += span(rest[n:], space)
	return n, scalar(rest[n:])
}

// spaced is the value of a label after a space alone, which ends at n.
func spaced(rest string, n int) (between, value int) {
	if n < len(rest) && rest[n] == '#' {
		n++
	}
	v := span(rest[n:], func(c byte) bool { return letterOrDigit(c) || c == '-' })
	if !strings.ContainsAny(rest[n:n+v], "0123456789") || strings.HasPrefix(rest[n+v:], " of ") {
		return 0, 0
	}
	return n, v
}

func space(c byte) bool { return c == ' ' || c == '\t' }

func isFleeting(word string) bool {
	if len(word) > 40 {
		return false
	}
	lower := strings.ToLower(word)
	if fleeting[lower] || fleeting[strings.ReplaceAll(lower, "_", "")] {
		return true
	}
	for _, e := range endings {
		if strings.HasSuffix(lower, e) {
			return true
		}
	}
	for _, e := range []string{"Id", "ID", "At", "Token", "Cursor", "Ms"} {
		if head, is := strings.CutSuffix(word, e); is && head != "" && head[len(head)-1] >= 'a' {
			return true
		}
	}
	return false
}

// scalar is the length of a value: a quoted text or a word. Lists and objects
// are no scalars.
func scalar(s string) int {
	if s == "" || s[0] == '{' || s[0] == '[' {
		return 0
	}
	if q := s[0]; q == '"' || q == '\'' {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case q:
				return i + 1
			case '\n':
				return 0
			}
		}
		return 0
	}
	return span(s, func(c byte) bool { return c > ' ' && !strings.ContainsRune(",;&)}]\"'<", rune(c)) })
}
