package records

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
)

// Kind is what a record is about.
type Kind string

// The kinds. An episode is what a run came to, a fact what somebody stated, a
// lesson what a run learnt, a skill a procedure, a preference how somebody
// wants things, an insight what was concluded from other records, an
// observation what was said or seen.
const (
	Episode     Kind = "episode"
	Fact        Kind = "fact"
	LessonKind  Kind = "lesson"
	Skill       Kind = "skill"
	Preference  Kind = "preference"
	Insight     Kind = "insight"
	Observation Kind = "observation"
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{Episode, Fact, LessonKind, Skill, Preference, Insight, Observation}
}

// The bounds of a record. Longer texts are refused, in words.
const (
	MaxText   = 1 << 20 // bytes
	MaxID     = 200     // bytes
	MaxName   = 500     // bytes, of a speaker, a session, a link
	maxCites  = 100
	MaxRating = 10 // of importance
)

// Record is one thing that is remembered.
type Record struct {
	ID    string `json:"id"`
	Kind  Kind   `json:"kind"`
	Scope Scope  `json:"scope"`
	Text  string `json:"text"`
	// Caption says in words what is in a picture or a file that came with it,
	// file names included.
	Caption string `json:"caption,omitempty"`
	Speaker string `json:"speaker,omitempty"` // as people call them
	// Time is when it was said or happened; zero: not known.
	Time time.Time `json:"time,omitzero"`
	// Session groups what was said in one conversation.
	Session string `json:"session,omitempty"`
	// Importance is from 1 to 10, 0 where nobody rated it.
	Importance int         `json:"importance,omitempty"`
	Trust      agent.Trust `json:"trust,omitempty"` // empty: untrusted
	Source     Source      `json:"source,omitzero"`
	// Supersedes are the ids of records of the same scope that this one replaces,
	// and Cites those that an insight was concluded from.
	Supersedes []string  `json:"supersedes,omitempty"`
	Cites      []string  `json:"cites,omitempty"`
	Expires    time.Time `json:"expires,omitzero"` // zero: never
	Pinned     bool      `json:"pinned,omitempty"` // kept whatever its age, and a little before others
	Written    time.Time `json:"written,omitzero"`
	// Order is the record's place among those of its session: the earlier it
	// was written, the smaller.
	Order int64 `json:"order,omitempty"`
}

// Source is where a record comes from.
type Source struct {
	Run   agent.RunID `json:"run,omitempty"`
	Event uint64      `json:"event,omitempty"` // of that run's journal
	// Person is the principal of who told it.
	Person string `json:"person,omitempty"`
	// Message is a link to, or the address of, what it was told in.
	Message string `json:"message,omitempty"`
	// Place is where it was told, "platform:workspace:channel"; empty: at the
	// terminal. A record of a person goes nowhere else.
	Place string `json:"place,omitempty"`
}

// ErrRecord is wrapped by what Check returns.
var ErrRecord = errors.New("it cannot be remembered")

// Check is what is wrong with a record, in words for the person who wrote it.
func (r Record) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrRecord}, args...)...)
	}
	switch {
	case r.ID == "" || len(r.ID) > MaxID:
		return bad("its id has %d bytes, 1 to %d are possible", len(r.ID), MaxID)
	case strings.TrimSpace(r.Text) == "" && strings.TrimSpace(r.Caption) == "":
		return bad("it has no text")
	case len(r.Text) > MaxText || len(r.Caption) > MaxText:
		return bad("its text has %d bytes, at most %d are possible: split it, or keep it as a file", max(len(r.Text), len(r.Caption)), MaxText)
	case !slices.Contains(Kinds(), r.Kind):
		return bad("there is no kind %q: use one of %s", r.Kind, joined(Kinds()))
	case r.longNames():
		return bad("its speaker, session or link is longer than %d bytes", MaxName)
	case r.Importance < 0 || r.Importance > MaxRating:
		return bad("its importance is %d: use 1 to %d", r.Importance, MaxRating)
	case len(r.Supersedes) > maxCites || len(r.Cites) > maxCites:
		return bad("it names more than %d other records", maxCites)
	}
	if err := r.Scope.Check(); err != nil {
		return bad("%w", err)
	}
	return nil
}

func (r Record) longNames() bool {
	return len(r.Speaker) > MaxName || len(r.Session) > MaxName || len(r.Source.Message) > 4*MaxName
}

func joined(kinds []Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// Clean is the record without what no text should have: bytes that are no
// UTF-8, and control characters but line ends and tabs.
func (r Record) Clean() Record {
	for _, text := range []*string{&r.ID, &r.Text, &r.Caption, &r.Speaker, &r.Session, &r.Source.Message} {
		*text = clean(*text)
	}
	r.Speaker, r.Session = strings.TrimSpace(r.Speaker), strings.TrimSpace(r.Session)
	return r
}

func clean(text string) string {
	plain := utf8.ValidString(text) && !strings.ContainsFunc(text, unprintable)
	if plain {
		return text
	}
	return strings.Map(func(c rune) rune {
		if unprintable(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func unprintable(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }

// Key is the record's id in a store, the same wherever the same id of the same
// scope is written.
func (r Record) Key() string { return Key(r.Scope, r.ID) }

// keyPrefix begins the keys of records.
const keyPrefix = "record/"

// Key is the id in a store of a record of the scope.
func Key(s Scope, id string) string { return keyPrefix + string(s) + "/" + id }

// IsKey reports whether an id of the store is that of a record.
func IsKey(key string) bool { return strings.HasPrefix(key, keyPrefix) }

// Encode is the record as stores keep it.
func (r Record) Encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the record %s: %w", r.ID, err)
	}
	return data, nil
}

// Decode reads a stored record.
func Decode(data []byte) (r Record, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("decode a record: %w: %w", agent.ErrDamaged, err)
	}
	return r, nil
}

// IDOf names a record by what it says: whoever writes the same in the same
// scope, however often and from wherever, writes one record.
func IDOf(kind Kind, scope Scope, text string) string {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + string(scope) + "\x00" + agent.Bare(text)))
	return "m" + hex.EncodeToString(sum[:6])
}

// Live reports whether the record counts at a time.
func (r Record) Live(at time.Time) bool { return r.Expires.IsZero() || r.Expires.After(at) }

// Label is the record's trust; what nobody vouched for is untrusted.
func (r Record) Label() agent.Trust {
	if r.Trust == agent.Trusted {
		return agent.Trusted
	}
	return agent.Untrusted
}
