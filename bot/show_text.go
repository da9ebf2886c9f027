package bot

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
)

// The bounds of a principal in a card's texts (see Mention).
const (
	mentionOpen  = '\ue000'
	mentionClose = '\ue001'
)

// Mention is how a card's texts name a principal: U+E000, the principal,
// U+E001. A platform renders it as the person's name without notifying
// anybody; nothing that others wrote can contain it.
func Mention(principal string) string {
	switch {
	case principal == "":
		return "somebody"
	case principal == Terminal:
		return "somebody at the terminal"
	case principal == agent.Deckhand:
		return "Deckhand"
	case !strings.Contains(principal, ":"):
		return exact(principal)
	}
	return string(mentionOpen) + exact(principal) + string(mentionClose)
}

// Unmention puts what name says in place of each principal of a text.
func Unmention(text string, name func(principal string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, string(mentionOpen))
		who, after, closed := strings.Cut(rest, string(mentionClose))
		b.WriteString(before)
		if !found || !closed {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(name(who))
		text = after
	}
}

// mentions lists principals in words: "A, B or C".
func mentions(principals []string, last string) string {
	names := make([]string, len(principals))
	for i, p := range principals {
		names[i] = Mention(p)
	}
	return enumerate(names, last)
}

// enumerate is "a, b or c".
func enumerate(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// exact writes out, as ⟨U+202E⟩, every character that people cannot see or that
// changes the order of others. It is for what people are asked to allow.
func exact(s string) string { return written(s, hides) }

// safe writes out what could make a text look like something else: controls
// of direction, control characters and private marks. Emoji stay whole.
func safe(s string) string { return written(s, deceives) }

func written(s string, hidden func(rune) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "⟨%02X⟩", s[i])
		case r != '\n' && r != '\t' && hidden(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func deceives(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Bidi_Control, r)
}

func hides(r rune) bool {
	switch {
	case unicode.Is(unicode.C, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case r >= 0xFE00 && r < 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true // variation selectors can carry hidden text; U+FE0F only makes emoji colourful
	}
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // joiners and fillers drawn as nothing
		return true
	}
	return false
}

// inLine is a text on one line, not longer than most characters; a cut is marked.
func inLine(s string, most int) string {
	s = strings.Join(strings.Fields(safe(s)), " ")
	if cut := firstRunes(s, most); cut != s {
		return strings.TrimRight(firstRunes(s, most-1), " ") + "…"
	}
	return s
}

// firstRunes is the beginning of a text, at most n characters.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// quoted is somebody's text as it stands, within Markdown.
func quoted(s string, most int) string { return escape(inLine(s, most)) }

// escape takes the meaning from what Markdown would read.
func escape(s string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]",
		"<", "\\<", ">", "\\>", "#", "\\#", "|", "\\|", "~", "\\~").Replace(s)
}

// inThousands writes a number with commas: 12,345.
func inThousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// countOf is "1 task", "2 tasks".
func countOf[N int | int64](n N, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return inThousands(int64(n)) + " " + word + "s"
}

// money is an amount as chat shows it; nil is an unknown price.
func money(n *agent.Nano) string {
	if n == nil {
		return "cost unknown"
	}
	return dollars(*n)
}

// dollars is an amount in whole cents. The exact one is in the journal.
func dollars(n agent.Nano) string {
	const cent = agent.Dollar / 100
	if 0 < n && n < cent {
		return "under $0.01" // rounded it would be nothing, or more than was spent
	}
	n = (n + cent/2) / cent
	return fmt.Sprintf("$%s.%02d", inThousands(int64(n/100)), n%100)
}

// lasting is a time in words of its two largest units: "1m 20s", "2h", "350ms".
func lasting(d time.Duration) string {
	if d = max(d, 0); d < time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	var parts []string
	s := int64(d.Round(time.Second) / time.Second)
	for _, u := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		n := s / u.seconds
		s -= n * u.seconds
		switch {
		case n > 0:
			parts = append(parts, strconv.FormatInt(n, 10)+u.name)
		case len(parts) > 0:
			return parts[0] // "2h 5s" would be odd
		}
		if len(parts) == 2 {
			break
		}
	}
	return strings.Join(parts, " ")
}

// inMinutes is a time that goes by while people look: seconds are noise in it.
func inMinutes(d time.Duration) string {
	if d < time.Minute {
		return "under 1m"
	}
	return lasting(d.Truncate(time.Minute))
}

// moment is a point in time.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 15:04 UTC") }

// untilThen is how long there is until the time, "" for never.
func untilThen(expires, now time.Time) string {
	switch {
	case expires.IsZero():
		return ""
	case !now.Before(expires):
		return "expires now"
	}
	return "expires " + moment(expires) + " (in " + inMinutes(expires.Sub(now).Round(time.Minute)) + ")"
}
