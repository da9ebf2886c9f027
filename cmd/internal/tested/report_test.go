package main

import (
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"m/deckhand/a"}
{"Action":"run","Package":"m/deckhand/a","Test":"TestX"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestX","Output":"=== RUN   TestX\n"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestX/deep","Output":"    x_test.go:7: oh no\n"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestX/deep","Output":"    --- FAIL: TestX/deep (0.00s)\n"}
{"Action":"fail","Package":"m/deckhand/a","Test":"TestX/deep"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestX","Output":"--- FAIL: TestX (0.00s)\n"}
{"Action":"fail","Package":"m/deckhand/a","Test":"TestX"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestGood","Output":"    x_test.go:9: quiet\n"}
{"Action":"pass","Package":"m/deckhand/a","Test":"TestGood"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestNo","Output":"    x_test.go:11: no engine is here\n"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestNo","Output":"--- SKIP: TestNo (0.00s)\n"}
{"Action":"skip","Package":"m/deckhand/a","Test":"TestNo"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestBomb/memory","Output":"    x_test.go:13: not beside the race detector\n"}
{"Action":"skip","Package":"m/deckhand/a","Test":"TestBomb/memory"}
{"Action":"pass","Package":"m/deckhand/a","Test":"TestBomb"}
{"Action":"output","Package":"m/deckhand/a","Test":"TestStuck","Output":"panic: stuck\n"}
{"Action":"output","Package":"m/deckhand/a","Output":"FAIL\n"}
{"Action":"output","Package":"m/deckhand/a","Output":"FAIL\tm/deckhand/a\t0.1s\n"}
{"Action":"fail","Package":"m/deckhand/a"}
{"ImportPath":"m/deckhand/b","Action":"build-output","Output":"b.go:1: broken\n"}
{"Action":"skip","Package":"m/deckhand/c"}
`

func TestReport(t *testing.T) {
	var b strings.Builder
	r := newReport(&b)
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	if err := r.read(strings.NewReader(`{"Action":"pass","Package":"m/deckhand/a","Test":"TestBomb/memory"}`)); err != nil {
		t.Fatal(err)
	}
	r.tellSkipped()
	want := `    x_test.go:7: oh no
    --- FAIL: TestX/deep (0.00s)
--- FAIL: TestX (0.00s)
FAIL
FAIL	m/deckhand/a	0.1s
panic: stuck
b.go:1: broken
skipped: 1
  1 × no engine is here: a TestNo
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// What go test really says, and its exit code.
func TestRun(t *testing.T) {
	var b strings.Builder
	if code := run(t.Context(), []string{"-run", "^TestReport$", ".", "--", "-run", "^TestReport$", "./no-such-folder"}, &b); code != 1 {
		t.Errorf("code %d: %s", code, b.String())
	}
	if !strings.Contains(b.String(), "/cmd/internal/tested\t") || !strings.HasSuffix(b.String(), "no test was skipped\n") {
		t.Errorf("%s", b.String())
	}
}
