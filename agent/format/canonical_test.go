package format

import (
	"testing"

	"github.com/gowebpki/jcs"
)

// What is taken for canonical is what the library makes of it.
func FuzzCanonical(f *testing.F) {
	for text, canonical := range map[string]bool{
		`{}`: true, `[]`: true, `{"a":1,"b":[true,false,null,-7,0,"x"],"c":{"d":""}}`: true,
		`{"text":"wörds\n\t\"quoted\" \\ end"}`: true,
		`{"a":123456789012345}`:                 true,

		`{"b":1,"a":2}`: false, `{"a":1,"a":2}`: false, `{"a": 1}`: false, `{"a":1} `: false, `{"a":1}{}`: false,
		`{"a":1.5}`: false, `{"a":1e3}`: false, `{"a":01}`: false, `{"a":-0}`: false, `{"a":-}`: false, `{"a":1234567890123456}`: false,
		`{"a":"\/"}`: false, `{"a":"\u0041"}`: false, `{"é":1}`: false, `{"\n":1}`: false, "{\"a\":\"\xff\"}": false, "{\"a\":\"\n\"}": false,
		`{"a":tru}`: false, `{"a"}`: false, `{"a":1,}`: false, `[1,]`: false, `[1`: false, `{"a":"`: false, `{"a":"\`: false,
		`"a"`: false, ``: false, `7`: false,
	} {
		if isCanonical([]byte(text)) != canonical {
			f.Errorf("%s: canonical at sight: %v", text, !canonical)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !isCanonical(text) {
			return
		}
		if want, err := jcs.Transform(text); err != nil || string(want) != string(text) {
			t.Errorf("%q: the library makes %q of it, %v", text, want, err)
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	text := []byte(`{"path":"notes/today.md","text":"a line of words\nand another \"one\"","times":12}`)
	for name, f := range map[string]func([]byte) ([]byte, error){"here": Canonical, "jcs": jcs.Transform} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
