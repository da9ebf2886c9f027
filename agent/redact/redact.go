package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// leastSecret is the length under which a value of the configuration is no secret
// that could be told from harmless text.
const leastSecret = 8

// known is what stands in the place of a secret of the configuration.
const known = "[secret]"

// Redactor takes secrets out of texts. The zero Redactor knows well-known shapes
// alone; it may be used from many goroutines, also while it learns.
type Redactor struct {
	words atomic.Pointer[words]
}

// words are the forms of the secrets of the configuration.
type words struct {
	secrets  []string
	replacer *strings.Replacer
	least    []string // every form
}

// New returns a redactor that knows the secrets.
func New(secrets ...string) *Redactor {
	r := &Redactor{}
	r.Know(secrets...)
	return r
}

// Know adds secrets. Values shorter than eight characters are left out: they could
// not be told from harmless text.
func (r *Redactor) Know(secrets ...string) {
	w := &words{}
	if old := r.words.Load(); old != nil {
		w.secrets = slices.Clone(old.secrets)
	}
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) >= leastSecret && !slices.Contains(w.secrets, s) {
			w.secrets = append(w.secrets, s)
		}
	}
	for _, s := range w.secrets {
		for _, f := range forms(s) {
			if !slices.Contains(w.least, f) {
				w.least = append(w.least, f)
			}
		}
	}
	// the longest first: a part of a secret is not to stay
	slices.SortFunc(w.least, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(w.least))
	for _, f := range w.least {
		pairs = append(pairs, f, known)
	}
	w.replacer = strings.NewReplacer(pairs...)
	r.words.Store(w)
}

// markdown puts a backslash before the signs of Markdown.
var markdown = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]",
	"<", "\\<", ">", "\\>", "#", "\\#", "|", "\\|", "~", "\\~")

// forms are a secret as it stands and as encodings write it. Base64 writes it in
// three ways, by where it begins within what is encoded.
func forms(s string) []string {
	list := []string{s, url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s)))}
	// as Markdown, of which cards are made, writes it
	list = append(list, markdown.Replace(s))
	if quoted, err := json.Marshal(s); err == nil {
		list = append(list, string(quoted[1:len(quoted)-1]))
	}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := e.EncodeToString(append(make([]byte, before), s...))
			from := (before*8 + 5) / 6      // letters that hold bits of what stands before
			to := (before + len(s)) * 8 / 6 // letters that hold bits of the secret alone
			if to-from >= leastSecret {
				list = append(list, text[from:to])
			}
		}
	}
	return list
}

// Text returns the text without secrets.
func (r *Redactor) Text(s string) string {
	if w := r.words.Load(); w != nil && slices.ContainsFunc(w.least, func(f string) bool { return strings.Contains(s, f) }) {
		s = w.replacer.Replace(s)
	}
	for _, k := range shapes {
		if !k.mayStand(s) {
			continue
		}
		if k.look.NumSubexp() > 0 {
			s = k.look.ReplaceAllString(s, "${1}[secret]${2}")
			continue
		}
		s = k.look.ReplaceAllLiteralString(s, "[secret: "+k.name+"]")
	}
	return s
}

// Holds reports whether a text holds a secret, and of which kind.
func (r *Redactor) Holds(s string) (kind string, is bool) {
	if w := r.words.Load(); w != nil && slices.ContainsFunc(w.least, func(f string) bool { return strings.Contains(s, f) }) {
		return "a secret of the configuration", true
	}
	for _, k := range shapes {
		if k.mayStand(s) && k.look.MatchString(s) {
			return "a " + k.name, true
		}
	}
	return "", false
}
