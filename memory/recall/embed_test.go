package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// endpoint gives vectors by what a text is about, so wide as it is told, and
// fails after so many texts.
type endpoint struct {
	width, left int
	asked       int
}

var errAway = errors.New("the endpoint is away")

func (e *endpoint) Model() string { return "test" }

func (e *endpoint) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if e.left < len(texts) {
		return nil, errAway
	}
	e.left, e.asked = e.left-len(texts), e.asked+len(texts)
	list := make([][]float32, len(texts))
	for i, text := range texts {
		list[i] = make([]float32, e.width)
		list[i][0] = 0.01
		if strings.Contains(text, "feline") || strings.Contains(text, "cat") {
			list[i][1] = 1
		} else {
			list[i][2] = 1
		}
	}
	return list, nil
}

var everything = records.Viewer{All: true}

func remembering(t *testing.T) (*sqlite.Store, *Memory, *endpoint) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	e := &endpoint{width: 4, left: 1 << 30}
	return s, New(Config{Store: s, Embed: e}), e
}

func note(id, text string) records.Record {
	return records.Record{ID: id, Kind: records.Fact, Scope: records.TerminalWorkspace, Text: text, Source: records.Source{Person: "slack:U1"}}
}

func (m *Memory) mustFind(t *testing.T, query, want string, byMeaning bool) {
	t.Helper()
	hits, err := m.Search(t.Context(), records.Query{Text: query, Viewer: everything})
	if err != nil || len(hits) == 0 || hits[0].Record.ID != want || (hits[0].Parts.Meaning > 0) != byMeaning {
		t.Errorf("%q: %+v, %v; want %s, by meaning: %v", query, hits, err, want, byMeaning)
	}
}

// Vectors that an endpoint gave before it failed are kept, the others are asked
// for later; meanwhile words find what they find.
func TestVectorsResume(t *testing.T) {
	t.Parallel()
	s, m, e := remembering(t)
	list := []records.Record{note("cat", "our feline eats at noon")}
	for i := range 2 * embedAtOnce {
		list = append(list, note(fmt.Sprint("n", i), fmt.Sprintf("invoice number %d was paid", i)))
	}
	if err := m.Keep(t.Context(), false, list...); err != nil {
		t.Fatal(err)
	}
	e.left = embedAtOnce
	if n, err := m.Fill(t.Context()); n != embedAtOnce || !errors.Is(err, errAway) {
		t.Fatalf("%d vectors, %v", n, err)
	}
	m.mustFind(t, "when does the feline eat", "cat", false)
	e.left = 1 << 30
	if n, err := m.Fill(t.Context()); n != len(list)-embedAtOnce || err != nil {
		t.Fatalf("then %d vectors, %v", n, err)
	}
	m.embed.until = time.Time{}
	m.mustFind(t, "where is my cat", "cat", true)
	again := New(Config{Store: s, Embed: e})
	before := e.asked
	again.mustFind(t, "where is my cat", "cat", true)
	if n, err := again.Fill(t.Context()); n != 0 || err != nil || e.asked != before+1 {
		t.Errorf("after a restart %d vectors are made anew, %v; asked for %d texts", n, err, e.asked-before)
	}
	e.left = 0 // a question goes on by words, and asks no more for a while
	m.mustFind(t, "when does the feline eat", "cat", false)
	e.left = 1 << 30
	m.mustFind(t, "when does the feline eat", "cat", false)
}

// An endpoint that gives vectors of another width is another model: all are made
// anew, and none of the old ones counts.
func TestAnotherWidth(t *testing.T) {
	t.Parallel()
	s, m, e := remembering(t)
	if err := m.Keep(t.Context(), false, note("cat", "our feline eats at noon"), note("a", "an invoice was paid")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.width = 8
	m.mustFind(t, "does the feline eat", "cat", false)
	if err := m.Keep(t.Context(), false, note("b", "another invoice was paid")); err != nil {
		t.Fatal(err)
	}
	for want := range []int{0, 1} {
		if n, err := m.Fill(t.Context()); err != nil || n != want+1 {
			t.Errorf("%d vectors, %v", n, err)
		}
	}
	if n, err := m.Fill(t.Context()); n != 0 || err != nil || m.index.Width() != 8 {
		t.Errorf("%d vectors, width %d, %v", n, m.index.Width(), err)
	}
	m.mustFind(t, "where is my cat", "cat", true)
	New(Config{Store: s, Embed: e}).mustFind(t, "where is my cat", "cat", true)
}

// What is forgotten or corrected takes its vector with it, in the store and in
// every index.
func TestForgettingTakesTheVector(t *testing.T) {
	t.Parallel()
	s, m, e := remembering(t)
	other := New(Config{Store: s, Embed: e})
	if err := m.Keep(t.Context(), false, note("cat", "our feline eats at noon"), note("dog", "the dog is called feline")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.mustFind(t, "where is my cat", "cat", true)
	if _, err := m.Forget(t.Context(), everything, "cat"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Correct(t.Context(), everything, "dog", "the dog is called Rex"); err != nil {
		t.Fatal(err)
	}
	rows, _, err := s.ReadRecords(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if strings.Contains(string(row.Data), "feline") || strings.HasPrefix(row.ID, vectorPrefix) && len(row.Data) > 0 {
			t.Errorf("the store still has %s: %q", row.ID, row.Data)
		}
	}
	hits, err := other.Search(t.Context(), records.Query{Text: "feline cat", Viewer: everything})
	if err != nil || len(hits) != 0 {
		t.Errorf("another process still finds %+v, %v", hits, err)
	}
}

// Ages are by scope; what is pinned stays, what has expired goes.
func TestSweep(t *testing.T) {
	t.Parallel()
	s, m, _ := remembering(t)
	m.Embed = nil
	now, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	old := now.Add(-48 * time.Hour)
	var list []records.Record
	for id, change := range map[string]func(*records.Record){
		"old":       func(*records.Record) {},
		"pinned":    func(r *records.Record) { r.Pinned = true },
		"person":    func(r *records.Record) { r.Scope = "person:slack:U1" },
		"expired":   func(r *records.Record) { r.Written, r.Expires, r.Pinned = now, now.Add(-time.Minute), true },
		"of today":  func(r *records.Record) { r.Written = now },
		"long said": func(r *records.Record) { r.Written, r.Time = now, old },
	} {
		r := note(id, "about "+id)
		r.Written = old
		change(&r)
		list = append(list, r)
	}
	if err := m.Import(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	none := func(records.Scope) time.Duration { return 0 }
	if n, err := m.Sweep(t.Context(), none); n != 1 || err != nil {
		t.Errorf("without an age %d are removed, %v", n, err)
	}
	day := func(s records.Scope) time.Duration {
		if what, _ := s.Parts(); what == records.Person {
			return 72 * time.Hour
		}
		return 24 * time.Hour
	}
	if n, err := m.Sweep(t.Context(), day); n != 1 || err != nil {
		t.Errorf("%d are removed, %v", n, err)
	}
	left, err := m.List(t.Context(), records.Query{Viewer: everything})
	if err != nil || len(left) != 4 {
		t.Errorf("left are %+v, %v", left, err)
	}
}

// Who is not of the place any more, and whoever nobody can tell of, has nothing
// recalled; their own words are theirs wherever they are.
func TestMembership(t *testing.T) {
	t.Parallel()
	_, m, _ := remembering(t)
	m.Embed = nil
	may, fails := true, error(nil)
	m.Member = func(context.Context, string, string) (bool, error) { return may, fails }
	r := note("m1", "the harbour master is Petra")
	r.Scope, r.Trust, r.Source.Place = "channel:slack:T1:C1", agent.Trusted, "slack:T1:C1"
	if err := m.Keep(t.Context(), false, r); err != nil {
		t.Fatal(err)
	}
	ann := records.Viewer{Person: "slack:U1", Place: "slack:T1:C1"}
	for _, tt := range []struct {
		may  bool
		err  error
		want int
	}{{true, nil, 1}, {false, nil, 0}, {true, errAway, 0}} {
		may, fails = tt.may, tt.err
		hits, err := m.Search(t.Context(), records.Query{Text: "harbour", Viewer: ann})
		list, listErr := m.List(t.Context(), records.Query{Viewer: ann})
		shown, showErr := m.Show(t.Context(), ann, "m1")
		if len(hits) != tt.want || len(list) != tt.want || len(shown) != tt.want || errors.Join(err, listErr, showErr) != nil {
			t.Errorf("member %v, %v: found %v, listed %v, shown %v, %v", tt.may, tt.err, hits, list, shown, errors.Join(err, listErr, showErr))
		}
	}
	ann.Own = true
	if list, err := m.List(t.Context(), records.Query{Viewer: ann}); len(list) != 1 || err != nil {
		t.Errorf("their own words: %v, %v", list, err)
	}
}

// Skills come from folders: they are found like records, are in no list, and
// nobody can write one of their kind.
func TestShelf(t *testing.T) {
	t.Parallel()
	s, _, _ := remembering(t)
	skill := records.Record{ID: "skill-tide", Kind: records.Skill, Scope: records.Everywhere, Text: "read the tide table", Trust: agent.Trusted}
	m := New(Config{Store: s, Shelf: []records.Record{skill}})
	ann := records.Viewer{Person: "slack:U1", Place: "slack:T1:C1"}
	if hits, err := m.Search(t.Context(), records.Query{Text: "tide table", Viewer: ann}); err != nil || len(hits) != 1 || hits[0].Record.ID != "skill-tide" {
		t.Errorf("found %v, %v", hits, err)
	}
	if list, err := m.List(t.Context(), records.Query{Viewer: everything}); len(list) != 0 || err != nil {
		t.Errorf("listed %v, %v", list, err)
	}
	if err := m.Keep(t.Context(), true, skill); !errors.Is(err, records.ErrScope) {
		t.Errorf("written: %v", err)
	}
}
