package plot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/plot/plotter"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// coarse is a quarter of the pixels, for speed.
const coarse = 75

type m map[string]any

func series(n int, f func(i int) float64) (labels []string, values []float64) {
	for i := range n {
		labels, values = append(labels, fmt.Sprintf("item %d", i)), append(values, f(i))
	}
	return labels, values
}

func raw(t testing.TB, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pixels are the decoded picture, four bytes a pixel; every chart is opaque.
func pixels(t *testing.T, b []byte) (pix []byte, size image.Point) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	switch img := img.(type) {
	case *image.RGBA:
		return img.Pix, img.Rect.Size()
	case *image.NRGBA:
		return img.Pix, img.Rect.Size()
	}
	t.Fatalf("the picture is a %T", img)
	return nil, image.Point{}
}

// unclipped reports whether the outermost six rows and columns are white: nothing
// is cut off.
func unclipped(pix []byte, size image.Point) bool {
	row, band := 4*size.X, bytes.Repeat([]byte{0xff}, 6*4*size.X)
	if !bytes.Equal(pix[:len(band)], band) || !bytes.Equal(pix[len(pix)-len(band):], band) {
		return false
	}
	for y := range size.Y {
		line := pix[y*row : (y+1)*row]
		if !bytes.Equal(line[:24], band[:24]) || !bytes.Equal(line[row-24:], band[:24]) {
			return false
		}
	}
	return true
}

func TestPictures(t *testing.T) {
	manyLabels, many := series(300, func(i int) float64 { return float64(i*37%101) - 20 })
	dates := []string{"2026-09-01", "2026-09-02", "2026-09-03"}
	long := strings.Repeat("a very long label ", 10)
	for _, c := range []struct {
		name   string
		args   arguments
		height int // pixels, 0: standard
		blue   int // pixels of it, at least
	}{
		{"bars", arguments{Kind: "bar", Title: "T", Labels: raw(t, []string{"a", "b"}), Values: raw(t, []float64{1, 2}), XLabel: "x", YLabel: "y"}, 0, 10000},
		{"bars on their side", arguments{Kind: "bar", Labels: raw(t, []string{long, long, long, long, long, long}), Values: raw(t, []float64{1, 2, 3, 4, 5, 6e11})}, 219, 800},
		{"very many bars", arguments{Kind: "bar", Title: long, XLabel: long, YLabel: long, Labels: raw(t, manyLabels), Values: raw(t, many)}, 908, 2400},
		{"long titles", arguments{Kind: "bar", Title: long, XLabel: long, YLabel: long, Labels: raw(t, []string{long, long}), Values: raw(t, []float64{1, -1e99})}, 0, 200},
		{"negative bars", arguments{Kind: "bar", Labels: raw(t, dates), Values: raw(t, []float64{-1, -2, -3.25})}, 0, 10000},
		{"only zero", arguments{Kind: "bar", Values: raw(t, []float64{0, 0})}, 0, 0},
		{"far apart", arguments{Kind: "bar", Values: raw(t, []float64{1e-90, 1e99})}, 0, 200},
		{"line", arguments{Kind: "line", Labels: raw(t, dates), Values: raw(t, []float64{1, 2, 1.5})}, 0, 400},
		{"long line", arguments{Kind: "line", Labels: raw(t, manyLabels), Values: raw(t, many)}, 0, 400},
		{"flat line", arguments{Kind: "line", Values: raw(t, []float64{5, 5, 5})}, 0, 200},
		{"one point", arguments{Kind: "line", Values: raw(t, []float64{5})}, 0, 10},
		{"scatter", arguments{Kind: "scatter", Labels: raw(t, []float64{3, 1, 2}), Values: raw(t, []float64{5, 3, 8})}, 0, 30},
		{"histogram", arguments{Kind: "histogram", Values: raw(t, many)}, 0, 10000},
		{"histogram of one value", arguments{Kind: "histogram", Values: raw(t, []float64{7, 7})}, 0, 200},
		{"pie", arguments{Kind: "pie", Title: "T", Labels: raw(t, []string{long, "b", "c"}), Values: raw(t, []float64{1e11, 2, 3})}, 0, 10000},
		{"pie of one", arguments{Kind: "pie", Values: raw(t, []float64{0, 4})}, 0, 0},
		{"no font for it", arguments{Kind: "bar", Labels: raw(t, []string{"漢字", "😀"}), Values: raw(t, []float64{1, 2})}, 0, 10000},
	} {
		t.Run(c.name, func(t *testing.T) {
			ch, err := read(c.args)
			if err != nil {
				t.Fatal(err)
			}
			b, err := picture(ch, coarse)
			if err != nil {
				t.Fatal(err)
			}
			pix, size := pixels(t, b)
			if c.height == 0 {
				c.height = 390
			}
			if size.X != 675 || size.Y != c.height {
				t.Errorf("the size is %v, want 675x%d", size, c.height)
			}
			if !unclipped(pix, size) {
				t.Error("something touches the border")
			}
			if n := bytes.Count(pix, []byte{blue.R, blue.G, blue.B, 0xff}); n < c.blue {
				t.Errorf("%d blue pixels, want %d", n, c.blue)
			}
		})
	}
}

func TestSameValuesSamePicture(t *testing.T) {
	ch, err := read(arguments{Kind: "bar", Values: json.RawMessage(`[1,2]`)})
	if err != nil {
		t.Fatal(err)
	}
	a, err1 := picture(ch, coarse)
	b, err2 := picture(ch, coarse)
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("two pictures differ: %v %v", err1, err2)
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, labels, values, want string }{
		{"arrays", `["a","b"]`, `[1,2.5]`, "a=1 b=2.5"},
		{"numbers as labels", `[2025,2026]`, `[1,2]`, "2025=1 2026=2"},
		{"texts with arrays", `"[\"a\",\"b\"]"`, `"[1, 2]"`, "a=1 b=2"},
		{"texts with commas", `"a, b"`, `"1, 2"`, "a=1 b=2"},
		{"texts with lines", `"a, x\nb\n"`, `"1\n2\n"`, "a, x=1 b=2"},
		{"object", ``, `{"z":1,"a":2}`, "z=1 a=2"},
		{"text with object", ``, `"{\"z\":1,\"a\":2}"`, "z=1 a=2"},
		{"numbers in texts", `["a","b"]`, `["1","2e3"]`, "a=1 b=2000"},
		{"no labels", ``, `[5,6]`, "1=5 2=6"},
		{"line ends in labels", `["a\nb","\u0000c"]`, `[5,6]`, "a b=5 c=6"},
		{"too few labels", `["a"]`, `[1,2]`, "error: 1 labels for 2 values"},
		{"none", `[]`, `[]`, "error: there are none"},
		{"no number", `["a"]`, `["x"]`, `error: values[0] is no number: "x"`},
		{"null", `["a"]`, `[null]`, "error: values[0] is no number: null"},
		{"infinite", `["a"]`, `["Inf"]`, "error: not a finite number"},
		{"not a number", `["a"]`, `["NaN"]`, "error: not a finite number"},
		{"huge", `["a"]`, `[1e300]`, "error: not a finite number below 1e100"},
		{"nested", `["a"]`, `[[1]]`, "error: values[0] is no number"},
		{"broken text", ``, `"[1,"`, "error: no JSON array"},
		{"broken object", ``, `"{\"a\":"`, "error: no JSON object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ch, err := read(arguments{Kind: "bar", Labels: json.RawMessage(c.labels), Values: json.RawMessage(c.values)})
			if want, isError := strings.CutPrefix(c.want, "error: "); isError {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, v := range ch.values {
				got = append(got, ch.labels[i]+"="+fmt.Sprint(v))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
		})
	}
	if _, err := read(arguments{Kind: "pie", Values: json.RawMessage(`[1,-1]`)}); err == nil {
		t.Error("a pie of negative values was accepted")
	}
}

func TestOthersAreSummed(t *testing.T) {
	labels, values := series(50, func(i int) float64 { return float64(i) })
	ch, err := read(arguments{Kind: "bar", Labels: raw(t, labels), Values: raw(t, values)})
	if err != nil {
		t.Fatal(err)
	}
	if len(ch.values) != 40 || ch.labels[39] != "other (11)" || ch.values[39] != 55 || ch.labels[0] != "item 11" {
		t.Errorf("%v %v", ch.labels, ch.values)
	}
}

func TestReadable(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 1234: "1,234", -1234567: "−1,234,567", 0.25: "0.25", 0.1 + 0.2: "0.3", 3.14159: "3.142", 12345.678: "12,346", 1e15: "1e+15", 1e-9: "1e-09", 999.96: "1,000",
	} {
		if got := readable(v); got != want {
			t.Errorf("%v is shown as %s, want %s", v, got, want)
		}
	}
}

func TestTool(t *testing.T) {
	dir := t.TempDir()
	w, err := workspace.New(workspace.Config{Dir: dir, Locks: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	tool := New(w)
	box, err := tools.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	call := func(effect string, args m) agent.Result {
		t.Helper()
		b := raw(t, args)
		if err := box.Check("plot", b); err != nil {
			t.Fatal(err)
		}
		return tool.Run(t.Context(), agent.Call{Run: "r", Effect: agent.EffectID(effect), Arguments: b})
	}
	file := filepath.Join(dir, "charts", "loc.png")
	r := call("1", m{"kind": "bar", "title": "T", "labels": []string{"a", "b"}, "values": []int{1, 2}, "path": "charts/loc.png"})
	if r.State != agent.OutcomeOK || r.Text != "wrote charts/loc.png: bar chart of 2 values" || strings.Join(r.Files, " ") != "charts/loc.png" {
		t.Fatalf("%+v", r)
	}
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if r := call("2", m{"kind": "line", "values": "1,2,3", "path": "charts/loc.png"}); r.State != agent.OutcomeOK {
		t.Fatalf("%+v", r)
	}
	second, err := os.ReadFile(file)
	if err != nil || bytes.Equal(first, second) {
		t.Fatalf("the picture was not replaced: %v", err)
	}
	// A worker that slept over the second picture does not bring back the first.
	if r := call("1", m{"kind": "bar", "title": "T", "labels": []string{"a", "b"}, "values": []int{1, 2}, "path": "charts/loc.png"}); r.State != agent.OutcomeOK {
		t.Fatalf("%+v", r)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, second) {
		t.Errorf("the older picture came back: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text.png"), []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"notes.md":  "let path end in .png",
		"text.png":  "exists and is no PNG",
		"../a.png":  "leads out",
		"/srv/.png": "absolute",
	} {
		if r := call("3", m{"kind": "bar", "values": []int{1}, "path": path}); r.State != agent.OutcomeError || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

// What a call does to the world depends on what is at its path.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	w, err := workspace.New(workspace.Config{Dir: dir, Locks: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	tool := New(w)
	prepare := func(at string) (agent.Prepared, agent.Call) {
		t.Helper()
		c := agent.Call{Run: "r", Effect: "1", Arguments: raw(t, m{"kind": "bar", "values": []int{1, 2}, "path": at})}
		p, err := tool.Prepare(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Mark = p.Mark
		return p, c
	}
	fresh, call := prepare("logo.png")
	if fresh.Class != agent.ClassCreate || len(fresh.Changes) != 1 || fresh.Changes[0] != "logo.png" {
		t.Errorf("a new picture: %+v", fresh)
	}
	theirs := []byte("\x89PNG\r\n\x1a\nsomebody's logo")
	if err := os.WriteFile(filepath.Join(dir, "logo.png"), theirs, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := tool.Run(t.Context(), call); r.State != agent.OutcomeError || !strings.Contains(r.Text, "nothing was changed") {
		t.Errorf("a picture that came after the call was prepared: %+v", r)
	}
	there, call := prepare("logo.png")
	if there.Class != agent.ClassWrite || there.Target == fresh.Target {
		t.Errorf("a picture that is there: %+v", there)
	}
	if r := tool.Run(t.Context(), call); r.State != agent.OutcomeOK {
		t.Errorf("an approved replacement: %+v", r)
	}
}

// A chart with more points than pixels costs no more than one with as many.
func TestManyPoints(t *testing.T) {
	_, values := series(mostValues, func(i int) float64 { return float64(1 + 8*(i%2)) })
	for kind, most := range map[string]int{"line": 2 * mostColumns, "scatter": mostCells * mostCells} {
		ch, err := read(arguments{Kind: kind, Values: raw(t, values)})
		if err != nil {
			t.Fatal(err)
		}
		xs, _ := positions(ch)
		xys := make(plotter.XYs, len(xs))
		for i, x := range xs {
			xys[i] = plotter.XY{X: x, Y: ch.values[i]}
		}
		shown := map[string]func(plotter.XYs) plotter.XYs{"line": envelope, "scatter": apart}[kind](xys)
		if len(shown) > most || len(shown) < 80 {
			t.Errorf("%s: %d points are drawn", kind, len(shown))
		}
		left, right, bottom, top := plotter.XYRange(shown)
		if wantLeft, wantRight, wantBottom, wantTop := plotter.XYRange(xys); bottom != wantBottom || top != wantTop || left > wantLeft+20 || right < wantRight-250 {
			t.Errorf("%s: it spans %v to %v and %v to %v", kind, left, right, bottom, top)
		}
		if _, err := picture(ch, coarse); err != nil {
			t.Error(err)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			ch, err := read(arguments{Kind: []string{"bar", "line", "pie", "histogram"}[i%4], Title: "T", Values: json.RawMessage(`[1,2,3]`)})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := picture(ch, coarse); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func FuzzRead(f *testing.F) {
	f.Add("bar", `["a","b"]`, `[1,2]`)
	f.Add("pie", `"a,b"`, `{"x":1}`)
	f.Add("line", ``, `"1\n2"`)
	f.Fuzz(func(t *testing.T, kind, labels, values string) {
		ch, err := read(arguments{Kind: kind, Labels: json.RawMessage(labels), Values: json.RawMessage(values)})
		if err != nil {
			return
		}
		if len(ch.values) == 0 || len(ch.labels) > 0 && len(ch.labels) != len(ch.values) {
			t.Fatalf("%d labels for %d values", len(ch.labels), len(ch.values))
		}
		for _, v := range ch.values {
			readable(v)
		}
	})
}

// Any values can be drawn.
func FuzzPicture(f *testing.F) {
	f.Add(uint8(0), 1.0, 2.0, 3.0, "a")
	f.Add(uint8(1), 0.0, 0.0, 0.0, "")
	f.Add(uint8(2), -1e99, 1e-99, 1e99, "1e99")
	f.Fuzz(func(t *testing.T, kind uint8, a, b, c float64, label string) {
		k := []string{"bar", "line", "scatter", "pie", "histogram"}[kind%5]
		ch, err := read(arguments{Kind: k, Labels: raw(t, []string{label, "2", "3"}), Values: raw(t, []string{fmt.Sprint(a), fmt.Sprint(b), fmt.Sprint(c)})})
		if err != nil {
			return
		}
		if _, err := picture(ch, coarse); err != nil {
			t.Fatalf("%s of %v: %v", k, ch.values, err)
		}
	})
}
