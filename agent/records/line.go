package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// text is a text in a line of JSON that may be written as a number.
type text string

// UnmarshalJSON reads a text or a number.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err == nil {
		*t = text(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("it is %.40s, not a text", data)
	}
	*t = text(n)
	return nil
}

// line is a record as people write it. What they leave out has a default.
type line struct {
	ID         text        `json:"id"`
	Text       string      `json:"text"`
	Speaker    string      `json:"speaker"`
	Time       anyTime     `json:"time"`
	Session    text        `json:"session"`
	Kind       Kind        `json:"kind"`
	Scope      string      `json:"scope"`
	Caption    string      `json:"caption"`
	Importance int         `json:"importance"`
	Trust      agent.Trust `json:"trust"`
	Source     Source      `json:"source"`
	Supersedes []string    `json:"supersedes"`
	Cites      []string    `json:"cites"`
	Expires    anyTime     `json:"expires"`
	Pinned     bool        `json:"pinned"`
	Order      int64       `json:"order"`
}

// maxLine is the longest line that is read, in bytes.
const maxLine = 4 * MaxText

// maxBad is how many bad lines are told one by one.
const maxBad = 20

// LinesError says which lines cannot be taken. None of the others was, either.
type LinesError struct {
	Bad  []string // "line 3: …"
	More int      // further bad lines
}

func (e *LinesError) Error() string {
	text := strings.Join(e.Bad, "\n")
	if e.More > 0 {
		text += fmt.Sprintf("\nand %d more lines", e.More)
	}
	return text
}

func (e *LinesError) add(number int, err error) {
	if len(e.Bad) == maxBad {
		e.More++
		return
	}
	e.Bad = append(e.Bad, "line "+strconv.Itoa(number)+": "+err.Error())
}

// ReadLines reads records, one JSON object a line, as the viewer gives them.
// Empty lines are skipped. A *LinesError names every line that is bad.
func ReadLines(in io.Reader, v Viewer) ([]Record, error) {
	var list []Record
	bad, where := &LinesError{}, map[string]int{}
	lines := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		data, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return nil, fmt.Errorf("read line %d: %w", number, err)
		}
		data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
		if err == nil && len(data) == 0 {
			continue
		}
		var r Record
		if err == nil {
			r, err = parseLine(data, v)
		}
		if first, twice := where[r.Key()]; err == nil && twice {
			err = fmt.Errorf("the id %q stands in line %d already", r.ID, first)
		}
		if err != nil {
			bad.add(number, err)
			continue
		}
		where[r.Key()] = number
		list = append(list, r)
	}
	if len(bad.Bad) > 0 {
		return nil, bad
	}
	return list, nil
}

var errLongLine = fmt.Errorf("it is longer than %d bytes", maxLine)

// readLine reads a line whole, however long it is; of one that is too long only
// that is told. The end of the input is io.EOF.
func readLine(in *bufio.Reader) (data []byte, err error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(data)+len(part) > maxLine; !long {
			data = append(data, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(data) > 0 || long), err == nil:
			if long {
				return nil, errLongLine
			}
			return data, nil
		default:
			return nil, err
		}
	}
}

// parseLine reads one record.
func parseLine(data []byte, v Viewer) (Record, error) {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return Record{}, badJSON(err)
	}
	r := Record{
		ID: strings.TrimSpace(string(l.ID)), Kind: l.Kind, Text: l.Text, Caption: l.Caption, Speaker: l.Speaker, Time: l.Time.Time,
		Session: string(l.Session), Importance: l.Importance, Trust: l.Trust, Source: l.Source, Supersedes: l.Supersedes, Cites: l.Cites,
		Expires: l.Expires.Time, Pinned: l.Pinned, Order: l.Order,
	}.Clean()
	if r.Kind == "" {
		r.Kind = Observation
	}
	var err error
	if r.Scope, err = scopeOf(l.Scope, v); err != nil {
		return r, err
	}
	if r.ID == "" {
		r.ID = IDOf(r.Kind, r.Scope, r.Session+"\x00"+r.Speaker+"\x00"+r.Text)
	}
	return r, r.Check()
}

func badJSON(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON object: %w", err)
	case errors.As(err, &kind):
		return fmt.Errorf("%s is a %s, not a %s", orThis(kind.Field), kind.Value, kind.Type)
	}
	return err
}

func orThis(field string) string {
	if field == "" {
		return "the line"
	}
	return field
}

// scopeOf is a scope as it is written: nothing, a word, or the whole.
func scopeOf(written string, v Viewer) (Scope, error) {
	switch written {
	case "":
		return v.Scope(Workspace)
	case Person, Channel, Workspace:
		return v.Scope(written)
	}
	return Scope(written), Scope(written).Check()
}
