package agent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func entry(text string) Entry { return Entry{Note: &Note{By: Deckhand, Text: text, Trusted: true}} }

func texts(h History) []string {
	list := []string{}
	for i, e := range h.All() {
		if i != len(list) {
			list = append(list, fmt.Sprintf("entry %d stands at %d", i, len(list)))
		}
		list = append(list, e.Note.Text)
	}
	return list
}

// Whatever is pushed on top of a history, and however often, the history and
// everything else that grew from it stay as they were.
func TestHistoriesAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grown := []History{{}}
		want := [][]string{{}}
		for n := range rapid.IntRange(1, 40).Draw(t, "pushes") {
			from := rapid.IntRange(0, len(grown)-1).Draw(t, "from")
			h, text := grown[from], append([]string{}, want[from]...)
			for i := range rapid.IntRange(0, 2*chunk+1).Draw(t, "entries") {
				name := fmt.Sprint(n, " ", i)
				h, text = h.Push(entry(name)), append(text, name)
			}
			grown, want = append(grown, h), append(want, text)
		}
		for i, h := range grown {
			if diff := cmp.Diff(want[i], texts(h)); diff != "" {
				t.Fatalf("history %d changed:\n%s", i, diff)
			}
			if h.Len() != len(want[i]) || h.IsZero() != (len(want[i]) == 0) {
				t.Fatalf("history %d has length %d of %d", i, h.Len(), len(want[i]))
			}
		}
	})
}

func TestHistoryIsAListInJSON(t *testing.T) {
	for _, n := range []int{0, 1, chunk - 1, chunk, chunk + 1, 3*chunk + 2} {
		var h History
		list := []Entry{}
		for i := range n {
			list = append(list, entry(strconv.Itoa(i)))
		}
		h = h.Push(list...)
		got, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%d entries:\n%s", n, diff)
		}
		var read History
		if err := json.Unmarshal(got, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(texts(h), texts(read)); diff != "" {
			t.Errorf("%d entries read:\n%s", n, diff)
		}
		for i := range n {
			if at := read.At(i).Note.Text; at != strconv.Itoa(i) {
				t.Errorf("entry %d of %d is %q", i, n, at)
			}
		}
	}
}
