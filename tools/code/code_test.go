package code_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/code"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// The test binary is also the child, and a parent that can be killed.
const (
	childWord   = "sandbox-js"
	parentWord  = "parent-of-sandbox"
	confineWord = "supervisor-of-sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case childWord:
			os.Exit(code.Child(os.Stdin, os.Stdout))
		case parentWord:
			os.Exit(parent())
		case confineWord:
			os.Exit(sandbox.Main(os.Args[2:]))
		}
	}
	goleak.VerifyTestMain(m)
}

func parent() int {
	t, err := code.New(code.Config{Command: []string{os.Args[0], childWord}, CPU: time.Minute, Wall: time.Minute})
	if err != nil {
		return 1
	}
	t.Run(context.Background(), agent.Call{Arguments: json.RawMessage(`{"code":"for(;;);"}`)})
	return 0
}

// patient is a wall time that no program here runs into: a busy machine may
// take its time to give a child half a second of processor time.
const patient = time.Minute

func newTool(t *testing.T, c code.Config) *code.Tool {
	t.Helper()
	if c.Wall == 0 {
		c.Wall = patient
	}
	c.Command = []string{os.Args[0], childWord}
	tool, err := code.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func run(t *testing.T, tool *code.Tool, source string, input any) agent.Result {
	t.Helper()
	args := map[string]any{"code": source}
	if input != nil {
		args["input"] = input
	}
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Run(t.Context(), agent.Call{Arguments: b})
}

func TestPrograms(t *testing.T) {
	tool := newTool(t, code.Config{})
	for _, c := range []struct {
		name, source string
		input        any
		want         string
	}{
		{"value", "1 + 2", nil, "3"},
		{"string", "'a' + 'ä'", nil, "aä"},
		{"object", "({a: [1, 'x', null], b: {c: 0.1 + 0.2}})", nil, `{"a":[1,"x",null],"b":{"c":0.30000000000000004}}`},
		{"array", "[3,1,2].sort()", nil, "[1,2,3]"},
		{"log", "console.log('a', 1, {b: 2}, [3], null, undefined); console.error('c'); 5", nil, "a 1 {\"b\":2} [3] null undefined\nc\n5"},
		{"log only", "for (const x of [1, 2]) console.log(x)", nil, "1\n2"},
		{"input", "input.rows.reduce((a, r) => a + r.n, 0)", map[string]any{"rows": []map[string]int{{"n": 2}, {"n": 40}}}, "42"},
		{"input text", "input.split('\\n').map(l => l.split('\\t')[1]).join()", "a\t1\nb\t2", "1,2"},
		{"input is plain", "Array.isArray(input) && input.length", []int{1, 2}, "2"},
		{"no input", "typeof input", nil, "undefined"},
		{"nothing", "const x = 1", nil, "no output: end the program with an expression or call console.log"},
		{"null", "null", nil, "null"},
		{"function", "(function f() {})", nil, "function f() {}"},
		{"date", "new Date(0)", nil, `"1970-01-01T00:00:00.000Z"`},
		{"promise", "(async () => { await null; console.log('in'); return {done: true} })()", nil, "in\n{\"done\":true}"},
		{"newer syntax", "const f = (a, ...b) => `${a?.x ?? 'none'}-${b.length}`; f(null, 1, 2)", nil, "none-2"},
		{"map", "new Map([[1, 2]]).size + new Set([1, 1]).size", nil, "2"},
		{"regexp", "'a1b22'.replace(/(?<=b)\\d+/g, 'X')", nil, "a1bX"},
		{"unicode", "'😀'.length + ' \u2028'", nil, "2 \u2028"},
		{"caught", "try { null.x } catch (e) { e instanceof TypeError }", nil, "true"},
		{"eval stays inside", "eval('1 + 1') + new Function('return 2')()", nil, "4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, tool, c.source, c.input)
			if r.State != agent.OutcomeOK || r.Text != c.want || r.Trust != agent.Trusted {
				t.Errorf("%s\n got %s %q\nwant %q", c.source, r.State, r.Text, c.want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	tool := newTool(t, code.Config{})
	for _, c := range []struct{ name, source, want string }{
		{"thrown", "console.log('before')\n\n  throw new Error('oh no')", "the program failed: Error: oh no (line 3, column 9)\nOutput before that:\nbefore"},
		{"type", "let a\na.b.c", "TypeError: Cannot read property 'b' of undefined (line 2, column 3)"},
		{"inside", "function f() {\n  return g()\n}\nf()", "ReferenceError: g is not defined (line 2, column"},
		{"syntax", "let x = ;", "SyntaxError: Line 1:9 Unexpected token ;"},
		{"thrown text", "throw 'text'", "the program failed: text (line 1"},
		{"thrown object", "throw {code: 7}", `the program failed: {"code":7}`},
		{"unprintable", "throw {toJSON() { throw 1 }}", "cannot be shown"},
		{"circular", "const a = {}; a.a = a; a", "circular"},
		{"rejected", "Promise.reject(new Error('later'))", "the promise was rejected: Error: later"},
		{"pending", "new Promise(() => {})", "never settled"},
		{"require", "require('fs').readFileSync('/etc/passwd')", "require is not defined"},
		{"process", "process.env", "process is not defined"},
		{"fetch", "fetch('http://localhost')", "fetch is not defined"},
		{"import", "import fs from 'fs'", "SyntaxError"},
		{"dynamic import", "import('fs')", "SyntaxError"},
		{"function constructor", "(function(){}).constructor('return process')()", "process is not defined"},
		{"this of a function", "new Function('return this')().process.exit()", "TypeError"},
		{"through console", "console.log.constructor('return require')()", "require is not defined"},
		{"timers", "setTimeout(() => {}, 1)", "setTimeout is not defined"},
		{"go methods", "console.log.Call()", "TypeError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, tool, c.source, nil)
			if r.State != agent.OutcomeError || !strings.HasPrefix(r.Text, "error: run_code: ") || !strings.Contains(r.Text, c.want) {
				t.Errorf("%s\n got %s %q\nwant %q", c.source, r.State, r.Text, c.want)
			}
		})
	}
}

// A source map named in a comment would be a file that the parser reads.
func TestSourceMapIsNotRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "map")
	if err := os.WriteFile(pipe, []byte("no map"), 0o600); err != nil {
		t.Fatal(err)
	}
	tool := newTool(t, code.Config{})
	for _, source := range []string{
		"1\n//# sourceMappingURL=" + pipe,
		"eval(`2\n//# sourceMappingURL=" + pipe + "`); 1",
	} {
		if r := run(t, tool, source, nil); r.State != agent.OutcomeOK || r.Text != "1" {
			t.Errorf("%q: %+v", source, r)
		}
	}
}

// Each program tries to use up something; each must end with the reason, which
// is never the time by the clock, and this process must not grow with it.
func TestLimits(t *testing.T) {
	tool := newTool(t, code.Config{Memory: 128 << 20, CPU: 500 * time.Millisecond, Output: 4096})
	const cpu, memory = "more than 500ms of processor time", "more than 128 MiB of memory"
	for _, c := range []struct {
		name, source string
		want         []string // any of them
	}{
		{"loop", "let i = 0\nwhile (true) { i++ }", []string{cpu}},
		{"loop that catches", "for (;;) { try { for (;;); } catch (e) {} finally { continue } }", []string{cpu}},
		{"array", "const a = []; for (;;) a.push(new Array(1000).fill('x'))", []string{memory, cpu}},
		{"strings", "let s = 'x'; for (;;) s += s", []string{memory, cpu, "Invalid string length"}},
		{"strings kept", "const a = []; let s = 'xy'.repeat(1e6); for (;;) a.push(s + a.length)", []string{memory, cpu}},
		{"buffer", "new ArrayBuffer(8e9)", []string{memory, "RangeError", "Invalid"}},
		{"buffers", "const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1))", []string{memory, cpu}},
		{"repeat", "'x'.repeat(2 ** 30).length", []string{memory, "Invalid", cpu}},
		{"array length", "new Array(2 ** 32 - 1).fill(0)", []string{memory, cpu, "RangeError"}},
		{"regexp", "/(a+)+\\1b/.test('a'.repeat(60) + '!')", []string{cpu}},
		{"recursion", "function f() { return f() + 1 }; f()", []string{"nested deeper than 10000"}},
		{"native recursion", "function f() { return [1].map(f) }; f()", []string{"nested", memory, cpu}},
		{"nested source", "eval('('.repeat(200000))", []string{"nested", memory, "SyntaxError", cpu}},
		{"nested data", "JSON.parse('['.repeat(3000000))", []string{"nested", memory, "SyntaxError", cpu}},
		{"sort", "const a = []; for (let i = 0; i < 3e6; i++) a.push(i); a.sort(() => { for (;;); })", []string{cpu, memory}},
		{"getter", "({get x() { for (;;); }})", []string{cpu}},
		{"to string", "throw {toJSON() { for (;;); }}", []string{cpu}},
		{"promise jobs", "const f = () => Promise.resolve().then(f); f()", []string{cpu, memory}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, tool, c.source, nil)
			if r.State != agent.OutcomeError {
				t.Fatalf("%s: %.300s", r.State, r.Text)
			}
			for _, w := range c.want {
				if strings.Contains(r.Text, w) {
					return
				}
			}
			t.Errorf("the reason is not one of %q: %.1000s", c.want, r.Text)
		})
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.Sys > 256<<20 {
		t.Errorf("this process has %d MiB", m.Sys>>20)
	}
}

// Where a loop begins the interpreter knows only the statement before it.
var nearLoop = regexp.MustCompile(`is there a loop without an end\? \(near line [23], column \d+\)\nOutput before that:\nhere$`)

func TestLoopNamesItsLineAndKeepsItsOutput(t *testing.T) {
	tool := newTool(t, code.Config{CPU: 2 * time.Second})
	r := run(t, tool, "console.log('here')\nlet i = 0\nwhile (true) i++", nil)
	if r.State != agent.OutcomeError || !nearLoop.MatchString(r.Text) {
		t.Errorf("%q", r.Text)
	}
}

func TestOutputIsCut(t *testing.T) {
	tool := newTool(t, code.Config{Output: 1000, CPU: 2 * time.Second})
	for _, source := range []string{
		"for (let i = 0; i < 1e5; i++) console.log('line', i)",
		"'ä'.repeat(100000)",
		"console.log('\\u0001'.repeat(5000)); 'last'",
	} {
		r := run(t, tool, source, nil)
		if r.State != agent.OutcomeOK || len(r.Text) > 1100 || !strings.HasSuffix(r.Text, "(output cut at 1000 bytes)") {
			t.Errorf("%s: %s, %d bytes, %.80q", source, r.State, len(r.Text), r.Text)
		}
	}
}

func TestCancelled(t *testing.T) {
	tool := newTool(t, code.Config{CPU: patient})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r := tool.Run(ctx, agent.Call{Arguments: json.RawMessage(`{"code":"for(;;);"}`)})
	if r.State != agent.OutcomeError || !strings.Contains(r.Text, "stopped") {
		t.Errorf("it ended by itself: %+v", r)
	}
}

func TestManyAtOnce(t *testing.T) {
	tool := newTool(t, code.Config{Parallel: 2})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if r := tool.Run(t.Context(), agent.Call{Arguments: json.RawMessage(`{"code":"input * 2","input":21}`)}); r.Text != "42" {
				t.Errorf("%+v", r)
			}
		})
	}
	wg.Wait()
}

func TestBadCommand(t *testing.T) {
	if _, err := code.New(code.Config{}); !errors.Is(err, code.ErrCommand) {
		t.Errorf("no command: %v", err)
	}
	tool, err := code.New(code.Config{Command: []string{filepath.Join(t.TempDir(), "none")}})
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, tool, "1", nil); r.State != agent.OutcomeError || !strings.Contains(r.Text, "could not be started") {
		t.Errorf("%+v", r)
	}
	tool, err = code.New(code.Config{Command: []string{"/bin/sh", "-c", "echo gone wrong >&2; exit 7"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, tool, "1", nil); r.State != agent.OutcomeError || !strings.Contains(r.Text, "exit status 7): gone wrong") {
		t.Errorf("%+v", r)
	}
	tool, err = code.New(code.Config{Command: []string{"/bin/sh", "-c", "yes"}, Output: 10})
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, tool, "1", nil); r.State != agent.OutcomeError {
		t.Errorf("%+v", r)
	}
}

// Without its parent a child ends, on any system: its stdin ends.
func TestChildEndsWithItsStdin(t *testing.T) {
	cmd := exec.Command(os.Args[0], childWord)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"code": "for(;;);", "memory": 1 << 28, "cpu": time.Minute, "wall": time.Minute, "output": 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(append(b, '\n')); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	start := time.Now()
	err = cmd.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 3 || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

func TestChildRefusesNonsense(t *testing.T) {
	for _, in := range []string{"", "not json\n", "{}"} {
		cmd := exec.Command(os.Args[0], childWord)
		cmd.Stdin = strings.NewReader(in)
		var out bytes.Buffer
		cmd.Stdout = io.Writer(&out)
		if err := cmd.Run(); err == nil || out.Len() != 0 {
			t.Errorf("%q: %v, %q", in, err, out.String())
		}
	}
}
