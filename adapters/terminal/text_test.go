package terminal

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain ASCII", "plain ASCII"},
		{"two\nlines\tand a tab", "two lines    and a tab"},
		{"\x1b[31mred\x1b[0m", "⟨U+001B⟩[31mred⟨U+001B⟩[0m"},
		{"C1 \u009b31m, raw \x9b", "C1 ⟨U+009B⟩31m, raw ⟨9B⟩"},
		{"a\u202egpj.exe", "a⟨U+202E⟩gpj.exe"},
		{"zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"},
		{"Grüße, 漢字, 👍", "Grüße, 漢字, 👍"},
		{"e\u0301", "e\u0301"},
		{"e" + strings.Repeat("\u0301", 6), "e" + strings.Repeat("\u0301", 4) + "⟨U+0301⟩⟨U+0301⟩"},
		{"line\u2028separator", "line⟨U+2028⟩separator"},
		{"\u3164filler", "⟨U+3164⟩filler"},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
		if again := clean(clean(c.in)); again != c.want {
			t.Errorf("cleaning %q twice gives %q", c.in, again)
		}
	}
}

func TestClipAndWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		clip  string
		wrap  []string
	}{
		{"short", 10, "short", []string{"short"}},
		{"exactly 10", 10, "exactly 10", []string{"exactly 10"}},
		{"one two three", 10, "one two t…", []string{"one two ", "  three"}},
		{"漢字漢字漢字", 9, "漢字漢字…", []string{"漢字漢字", "  漢字"}},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", 8, "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301…", []string{strings.Repeat("e\u0301", 8), "  e\u0301"}},
		{"abcdefghijklmnopqrst", 10, "abcdefghi…", []string{"abcdefghij", "  klmnopqr", "  st"}},
	} {
		if got := say(c.text).clip(c.width).paint(false); got != c.clip {
			t.Errorf("clip(%q, %d) = %q, want %q", c.text, c.width, got, c.clip)
		}
		var got []string
		for _, r := range say(c.text).wrap(c.width, "  ") {
			got = append(got, r.paint(false))
		}
		if diff := cmp.Diff(c.wrap, got); diff != "" {
			t.Errorf("wrap(%q, %d) (-want +got):\n%s", c.text, c.width, diff)
		}
	}
	colored := row{in(red, "one two"), in(normal, " three")}
	if got := colored.clip(6).paint(true); got != "\x1b[31mone t\x1b[0m\x1b[31m…\x1b[0m" {
		t.Errorf("a clipped row in colour is %q", got)
	}
}

func FuzzRows(f *testing.F) {
	f.Add(hostile, 20)
	f.Add("漢字漢字漢字 and words", 8)
	f.Add("a b  c   d", 9)
	f.Fuzz(func(t *testing.T, text string, width int) {
		r := row{in(normal, text), {text, dim}} // the second is cleaned by paint alone
		for _, c := range r.paint(false) {
			if hidden(c) || c == '\n' || c == '\t' || unicode.IsControl(c) {
				t.Fatalf("%U came through", c)
			}
		}
		if width < 8 || width > 200 {
			return
		}
		r = row{in(normal, text)}
		if n := r.clip(width).wide(); n > width {
			t.Errorf("clipped to %d it is %d wide", width, n)
		}
		var all strings.Builder
		for i, part := range r.wrap(width, "") {
			all.WriteString(part.paint(false))
			if n := columns(strings.TrimRight(part.paint(false), " ")); n > width {
				t.Errorf("row %d of %d is %d wide", i, width, n)
			}
		}
		if all.String() != r.paint(false) {
			t.Errorf("wrapping lost something: %q, %q", all.String(), r.paint(false))
		}
	})
}

func TestTheTreeShowsEachTaskOnce(t *testing.T) {
	p := agent.Plan{Tasks: []agent.Task{
		{ID: "a", Title: "A"}, {ID: "x", Title: "X", DependsOn: []agent.TaskID{"y"}}, {ID: "y", Title: "Y", DependsOn: []agent.TaskID{"x"}},
		{ID: "b", Title: "B", DependsOn: []agent.TaskID{"a", "gone"}}, {ID: "c", DependsOn: []agent.TaskID{"b", "a"}}, {ID: "d", Title: "D", DependsOn: []agent.TaskID{"a"}},
	}}
	r := agent.Run{}.Fold([]agent.Event{{Body: theBrief, At: time.Unix(1, 0)}, {Body: agent.PlanAccepted{Plan: p}}})
	var got []string
	for _, row := range planRows(card.Live(r, r.Last), "", 0)[1:] {
		got = append(got, row.paint(false))
	}
	if diff := cmp.Diff([]string{"○ A", "├ ○ B", "│ └ ○ c", "└ ○ D", "○ X", "○ Y"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALongPlanIsShortened(t *testing.T) {
	var p agent.Plan
	events := []agent.Event{{Body: theBrief, At: time.Unix(1, 0)}, {}}
	for i := range 30 {
		id := agent.TaskID("t" + string(rune('A'+i)))
		p.Tasks = append(p.Tasks, agent.Task{ID: id})
		events = append(events, agent.Event{Body: agent.TaskStarted{Task: id}})
		if i < 10 {
			events = append(events, agent.Event{Body: agent.TaskEnded{Task: id, State: agent.TaskDone}})
		}
		if i == 14 {
			break
		}
	}
	for i := range 15 {
		p.Tasks = append(p.Tasks, agent.Task{ID: agent.TaskID("p" + string(rune('A'+i)))})
	}
	events[1].Body = agent.PlanAccepted{Plan: p}
	folded := agent.Run{}.Fold(events)
	rows := planRows(card.Live(folded, folded.Last), "", 10)[1:]
	var got []string
	for _, row := range rows {
		got = append(got, row.paint(false))
	}
	if len(got) != 10 || got[0] != "▶ tK" || got[4] != "▶ tO" || got[9] != "… and 21 more tasks" {
		t.Errorf("%d rows: %q", len(got), got)
	}
}

func TestLineEditor(t *testing.T) {
	for _, c := range []struct {
		keys string
		want []string
		rest string
		over bool
	}{
		{"yes\nno\r", []string{"yes", "no"}, "", false},
		{"yse\x7f\x7fes\n", []string{"yes"}, "", false},
		{"\x7f\x08ok", nil, "ok", false},
		{"one two \x17three\n", []string{"one three"}, "", false},
		{"gone\x15kept\n", []string{"kept"}, "", false},
		{"a\x1b[A\x1b[1;5Cb\x1bOc\x1bxd\n", []string{"abd"}, "", false},
		{"Grüße 漢\x7f字\n", []string{"Grüße 字"}, "", false},
		{"\xff\n", []string{"\ufffd"}, "", false},
		{"x\x04y\n", []string{"xy"}, "", false},
		{"y\n\x04z", []string{"y"}, "", true},
	} {
		for size := 1; size <= len(c.keys); size++ { // however the reads cut it
			var e editor
			var got []string
			over := false
			for at := 0; at < len(c.keys) && !over; at += size {
				var lines []string
				lines, over = e.feed([]byte(c.keys[at:min(at+size, len(c.keys))]))
				got = append(got, lines...)
			}
			if !cmp.Equal(c.want, got) || e.rest() != c.rest || over != c.over {
				t.Errorf("%q in pieces of %d: %q, rest %q, over %v", c.keys, size, got, e.rest(), over)
			}
		}
	}
}

func FuzzTyping(f *testing.F) {
	f.Add([]byte("a\x1b[1;2Xb\x7f\xe6\xbc\n\x04"), 2)
	f.Fuzz(func(t *testing.T, keys []byte, size int) {
		if size < 1 || size > 100 {
			return
		}
		for _, whole := range []typing{&editor{}, &splitter{}} {
			pieces := map[bool]typing{true: &editor{}, false: &splitter{}}[isEditor(whole)]
			want, over := whole.feed(keys)
			if over {
				continue // what follows the end of the input is nobody's
			}
			var got []string
			for at := 0; at < len(keys); at += size {
				lines, _ := pieces.feed(keys[at:min(at+size, len(keys))])
				got = append(got, lines...)
			}
			if !cmp.Equal(want, got) || whole.rest() != pieces.rest() {
				t.Errorf("whole %q %q, in pieces %q %q", want, whole.rest(), got, pieces.rest())
			}
		}
	})
}

func isEditor(t typing) bool { _, is := t.(*editor); return is }
