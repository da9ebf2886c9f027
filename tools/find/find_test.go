package find_test

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/tools/find"
)

// asked is a request with the tool that serves it, empty: none does.
type asked struct{ request, tool string }

// lines reads a file of testdata without its comments.
func lines(t testing.TB, file string) []string {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// samples are tools, requests for each, and requests that none serves.
type samples struct {
	tools                       []find.Tool
	keywords, paraphrases, none []asked
}

// set reads the tools with a request in keywords and one in other words each.
func set(t testing.TB) samples {
	t.Helper()
	var s samples
	for _, line := range lines(t, "tools.txt") {
		f := strings.Split(line, "|")
		if len(f) != 5 {
			t.Fatalf("%q has not 5 parts", line)
		}
		s.tools = append(s.tools, find.Tool{Name: f[0], Description: f[1], Parameters: strings.Split(f[2], ", ")})
		s.keywords, s.paraphrases = append(s.keywords, asked{f[3], f[0]}), append(s.paraphrases, asked{f[4], f[0]})
	}
	for _, line := range lines(t, "none.txt") {
		s.none = append(s.none, asked{line, ""})
	}
	return s
}

// held reports whether a request belongs to the half that nothing was set by.
func held(a asked) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(a.request))
	return h.Sum32()%2 == 1
}

// share is how many of the requests, in percent, are answered well: with the
// right tool among the first five, or with none.
func share(x *find.Index, list []asked, half bool) (percent float64, missed []string) {
	good, all := 0, 0
	for _, a := range list {
		if held(a) != half {
			continue
		}
		all++
		found := x.Search(a.request, 5)
		ok := slices.ContainsFunc(found, func(m find.Match) bool { return m.Name == a.tool })
		if a.tool == "" {
			ok = len(found) == 0
		}
		if ok {
			good++
		} else {
			missed = append(missed, fmt.Sprintf("%-60s %-22s got %v, unbounded %v", a.request, a.tool, found, x.Rank(a.request, 3)))
		}
	}
	return 100 * float64(good) / float64(all), missed
}

// The figures of issue 13: they are set on one half and hold on the other.
func TestFindsTheRightTool(t *testing.T) {
	s := set(t)
	x := find.New(s.tools)
	if n := len(s.keywords) + len(s.paraphrases) + len(s.none); len(s.tools) < 200 || n < 300 {
		t.Fatalf("%d tools and %d requests are too few", len(s.tools), n)
	}
	for _, part := range []struct {
		name string
		list []asked
		want float64
	}{{"keywords", s.keywords, 85}, {"paraphrases", s.paraphrases, 65}, {"requests that no tool serves", s.none, 80}} {
		for _, half := range []bool{false, true} {
			got, missed := share(x, part.list, half)
			t.Logf("%s (held out: %v): %.1f %%", part.name, half, got)
			if got < part.want {
				t.Errorf("%s (held out: %v): %.1f %%, want %.0f\n%s", part.name, half, got, part.want, strings.Join(missed, "\n"))
			} else if testing.Verbose() && !half {
				t.Log("missed\n" + strings.Join(missed, "\n"))
			}
		}
	}
}

// many is n tools, of which no two are alike.
func many(t testing.TB, n int) []find.Tool {
	t.Helper()
	base := set(t).tools
	list := make([]find.Tool, n)
	for i := range list {
		b := base[i%len(base)]
		other := base[(i*7+i/len(base))%len(base)]
		list[i] = find.Tool{Name: fmt.Sprintf("%s_%d", b.Name, i/len(base)), Description: b.Description + " " + other.Description + fmt.Sprintf(" zone%d", i), Parameters: append(slices.Clone(b.Parameters), other.Parameters...),
			Notes: []string{"the " + other.Name + " that is meant", other.Description}}
	}
	return list
}

// Two thousand tools are searched fast and cost little.
func TestManyTools(t *testing.T) {
	list := many(t, 2000)
	s := set(t)
	requests := slices.Concat(s.keywords, s.paraphrases)
	x := find.New(list[:10]) // and the table of synonyms
	x.Search("weather", 1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x = find.New(list)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(list)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("the index has %d bytes", grown)
	} else {
		t.Logf("%d bytes", grown)
	}
	began := time.Now()
	for _, a := range requests {
		x.Search(a.request, 5)
	}
	each := time.Since(began) / time.Duration(len(requests))
	t.Logf("%s each", each)
	if each > 10*time.Millisecond {
		t.Errorf("a request takes %s", each)
	}
}

func BenchmarkFindTools(b *testing.B) {
	x := find.New(many(b, 2000))
	for b.Loop() {
		x.Search("how do I get from Oslo to Rome on Monday by plane, unknovn words includd", 5)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"getUserHTTPInfo":              "user http info",
		"torch.hub.load_state-dicts":   "torch hub load state dict",
		"AddAlarms2Go":                 "add alarms2 alarm",
		"Could you please list users?": "list user",
		"Café-Öffnungszeiten 24":       "cafe offnungszeiten",
		"":                             "",
	} {
		if got := strings.Join(find.Words(text), " "); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Misspelt words, words cut short and words written together still find.
func TestNear(t *testing.T) {
	x := find.New(set(t).tools)
	for request, want := range map[string]string{
		"calulator": "calculator", "thesarus": "thesaurus", "molecul weigth": "molecular_weight",
		"trackparcel": "track_parcel", "QrCode": "make_qr_code", "horoskope": "horoscope",
	} {
		if got := x.Search(request, 3); len(got) == 0 || got[0].Name != want {
			t.Errorf("%q finds %v, want %s", request, got, want)
		}
	}
	if got := x.Search("", 5); got != nil {
		t.Errorf("nothing finds %v", got)
	}
	same := find.New([]find.Tool{{Name: "b_tool", Description: "weather"}, {Name: "a_tool", Description: "weather"}})
	if got := same.Search("weather", 2); len(got) != 2 || got[0].Name != "a_tool" {
		t.Errorf("equals are not in the order of their names: %v", got)
	}
}
