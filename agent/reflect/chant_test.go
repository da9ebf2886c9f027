package reflect

import (
	"fmt"
	"strings"
	"testing"
)

const refrain = "I will now look at the configuration file again to see. "

func TestChanting(t *testing.T) {
	prose := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "Sentence number %d is about item %d of %d things. ", i, i*i, i*7)
		}
		return b.String()
	}
	between := func(n, texts, length int) string {
		var b strings.Builder
		for i := range n {
			var filler strings.Builder // nothing in it comes twice
			for j := 0; filler.Len() < length; j++ {
				fmt.Fprintf(&filler, "%d.%d ", i%texts, j*j)
			}
			b.WriteString(refrain[:50] + filler.String()[:length])
		}
		return b.String()
	}
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"nothing", "", false},
		{"long prose", prose(400), false},
		{"nine times", strings.Repeat(refrain, 9), false},
		{"ten times", strings.Repeat(refrain, 10), true},
		{"a short refrain", strings.Repeat("Let me think. ", 20), true},
		{"not so often", strings.Repeat("Let me think. ", 9), false},
		{"after long prose", prose(400) + strings.Repeat(refrain, 10), true},
		{"five texts between", between(10, 5, 30), true},
		{"six texts between", between(11, 6, 30), false},
		{"near enough", between(10, 1, 200), true},
		{"too far apart", between(10, 1, 201), false},
		{"inside code", "See:\n```go\n" + strings.Repeat(refrain, 20) + "\n```\nDone.", false},
		{"inside tildes", "~~~\n" + strings.Repeat(refrain, 20) + "\n~~~\n", false},
		{"after code", "```\nx\n```\n" + strings.Repeat(refrain, 10), true},
		{"five before and five after code", strings.Repeat(refrain, 5) + "\n```\nx\n```\n" + strings.Repeat(refrain, 5), false},
		{"a line of dashes", strings.Repeat("-", 200), false},
		{"a table's rule", "| a | b |\n|" + strings.Repeat("---|", 40) + "\n", false},
		{"dashes without end", strings.Repeat("-", 600), true},
		{"other scripts", strings.Repeat("Ich überlege, ob die Größe der Änderung stimmt … ", 12), true},
	} {
		got, found := Chanting(test.text, Defaults())
		if found != test.want {
			t.Errorf("%s: found %v (%+v), want %v", test.name, found, got, test.want)
		}
		if found && (got.End > len(test.text) || got.Times < 10 || !strings.Contains(test.text[:got.End], got.Window)) {
			t.Errorf("%s: %+v does not lie in the text of %d bytes", test.name, got, len(test.text))
		}
	}
}

func TestChantingInPieces(t *testing.T) {
	text := "Größe. " + strings.Repeat("Ich überlege, ob die Größe der Änderung stimmt … ", 12)
	whole, found := Chanting(text, Defaults())
	if !found {
		t.Fatal("the whole text is no chant")
	}
	for size := 1; size < 12; size++ {
		c := NewChants(Defaults())
		var got Chant
		is := false
		for at := 0; at < len(text) && !is; at += size {
			got, is = c.Write(text[at:min(len(text), at+size)])
		}
		if !is || got != whole {
			t.Errorf("in pieces of %d: %+v (%v), want %+v", size, got, is, whole)
		}
	}
}

func TestChantsKeepLittle(t *testing.T) {
	c := NewChants(Defaults())
	for i := range 100000 {
		if got, is := c.Write(fmt.Sprintf("line %d is new; ", i*7919)); is {
			t.Fatalf("line %d: %+v", i, got)
		}
	}
	if len(c.text) > 6000 || len(c.seen) > 6000 {
		t.Errorf("keeps %d characters and %d windows", len(c.text), len(c.seen))
	}
}

func FuzzChants(f *testing.F) {
	f.Add(strings.Repeat(refrain, 11), uint8(7))
	f.Add("```\n"+strings.Repeat(refrain, 11)+"\xff\n```", uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		whole, found := Chanting(text, Defaults())
		c := NewChants(Defaults())
		var got Chant
		is := false
		for at, n := 0, int(size)+1; at < len(text) && !is; at += n {
			got, is = c.Write(text[at:min(len(text), at+n)])
		}
		if is != found || got != whole {
			t.Fatalf("in pieces of %d: %+v (%v), whole: %+v (%v)", size, got, is, whole, found)
		}
	})
}
