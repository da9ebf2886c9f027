package fold

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

var update = flag.Bool("update", false, "write testdata/folds.txt anew, for another version")

// journals are those that a release wrote, by their goals, and one of every kind
// and version of event.
func journals(t *testing.T) map[string][]agent.Event {
	t.Helper()
	all := map[string][]agent.Event{}
	f, err := os.Open(filepath.Join("testdata", "journals.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	goals := map[agent.RunID]string{}
	lines := bufio.NewScanner(packed)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e agent.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if b, is := e.Body.(agent.RunStarted); is {
			goals[e.Run] = b.Goal
		}
		all[goals[e.Run]] = append(all[goals[e.Run]], e)
	}
	if err := lines.Err(); err != nil || len(all) != 10 {
		t.Fatalf("%d journals, %v", len(all), err)
	}
	all["every kind"] = everyKind(t)
	return all
}

// everyKind is a journal of the golden events, each of them twice, so that what
// belongs together follows upon each other.
func everyKind(t *testing.T) []agent.Event {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "testdata", "golden", "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var first, middle, last []agent.Event
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var e agent.Event
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(name, err)
		}
		switch e.Body.(type) {
		case agent.RunStarted:
			first = append(first, e)
		case agent.RunEnded:
			last = append(last, e)
		default:
			middle = append(middle, e)
		}
	}
	events := slices.Concat(first, middle, middle, last)
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	return events
}

// Snapshots hold folds: one of another Apply must not be read. This test fails
// when Apply gives another Run for the same journal, until version says so.
func TestVersionFollowsApply(t *testing.T) {
	got := []string{fmt.Sprint("version ", version)}
	for name, events := range journals(t) {
		data, err := format.JSON(agent.Run{}.Fold(events))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		got = append(got, hex.EncodeToString(sum[:8])+" "+name)
		var again agent.Run // what a snapshot gives back is what was folded
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plain(t, string(data)), plain(t, text(t, again))); diff != "" {
			t.Errorf("%s: snapshot (-kept +read):\n%s", name, diff)
		}
	}
	slices.Sort(got[1:])
	file := filepath.Join("testdata", "folds.txt")
	data, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(data)), "\n")
	switch {
	case slices.Equal(got, want):
	case got[0] == want[0]:
		t.Errorf("the same journals give other folds than those that snapshots of %s hold: raise version in snapshot.go, "+
			"then run go test ./agent/fold -update (-want +got):\n%s", want[0], cmp.Diff(want, got))
	case *update:
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("testdata/folds.txt is of %s: run go test ./agent/fold -update", want[0])
	}
}

// plain is a JSON text without its spaces and escapes.
func plain(t *testing.T, s string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
