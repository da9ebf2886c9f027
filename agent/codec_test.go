package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of the newest versions anew")

func golden(k Kind, version int) string {
	return filepath.Join("testdata", "golden", fmt.Sprintf("%s.v%d.json", k, version))
}

func TestGolden(t *testing.T) {
	for _, b := range samples {
		t.Run(string(b.Kind()), func(t *testing.T) {
			e := sampleEvent(b)
			wrote, err := e.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			wrote = append(wrote, '\n')
			name := golden(b.Kind(), b.Kind().Version())
			if *update {
				if err := os.WriteFile(name, wrote, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(wrote, want) {
				t.Errorf("wrote\n%s\nwant\n%s", wrote, want)
			}
			var read Event
			if err := json.Unmarshal(want, &read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, read); diff != "" {
				t.Errorf("read another event (-want +got):\n%s", diff)
			}
		})
	}
}

// Old journals are read for ever: every version of every kind has its file.
func TestEveryVersionHasAGoldenFile(t *testing.T) {
	for _, k := range kindsOf(builtin) {
		for v := 1; v <= k.Version(); v++ {
			data, err := os.ReadFile(golden(k, v))
			if err != nil {
				t.Errorf("%s version %d has no golden file: add it to samples and run go test -update: %v", k, v, err)
				continue
			}
			var e Event
			if err := json.Unmarshal(data, &e); err != nil || e.Body.Kind() != k {
				t.Errorf("%s version %d: read %v, %v", k, v, e.Body, err)
			}
		}
	}
}

// A field that is zero in its sample would be missing from the golden file.
func TestSamplesSetEveryField(t *testing.T) {
	for _, b := range samples {
		v := reflect.ValueOf(b)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the sample of %s does not set %s", b.Kind(), v.Type().Field(i).Name)
			}
		}
	}
}

func TestReadersIgnoreUnknownFields(t *testing.T) {
	for _, k := range kindsOf(builtin) {
		data, err := os.ReadFile(golden(k, k.Version()))
		if err != nil {
			t.Fatal(err)
		}
		more := strings.Replace(string(data), `"body":{`, `"colour":"red","body":{"smell":{"of":["tea"]},`, 1)
		more = strings.Replace(more, `]},}}`, `]}}}`, 1) // time.passed has no field of its own
		var plain, extended Event
		if err := json.Unmarshal(data, &plain); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(more), &extended); err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		if diff := cmp.Diff(plain, extended); diff != "" {
			t.Errorf("%s: unknown fields changed the event:\n%s", k, diff)
		}
	}
}

func TestUnreadable(t *testing.T) {
	entry := func(kind, v, body string) string {
		return `{"run":"r1","strand":"main","seq":1,"at":"2026-03-02T12:00:00Z","kind":"` + kind + `"` + v + `,"body":` + body + `}`
	}
	for _, tt := range []struct {
		name, line string
		want       error
	}{
		{"unknown kind", entry("telepathy.felt", "", `{}`), ErrNewer},
		{"unknown kind, no version of which is right", entry("telepathy.felt", `,"v":-1`, `{}`), ErrNewer},
		{"newer version", entry("person.said", `,"v":3`, `{}`), ErrNewer},
		{"negative version", entry("person.said", `,"v":-1`, `{}`), ErrDamaged},
		{"version is no number", entry("person.said", `,"v":"1"`, `{}`), ErrDamaged},
		{"body is a list", entry("person.said", "", `["by"]`), ErrDamaged},
		{"field of another type", entry("person.said", "", `{"by":7}`), ErrDamaged},
		{"no body", `{"kind":"person.said"}`, ErrDamaged},
		{"body cut off", entry("person.said", "", `{"by":"slack:U1","te`), ErrDamaged},
		{"stamp is no time", `{"at":"noon","kind":"time.passed","body":{}}`, ErrDamaged},
		{"money is no number", entry("run.ended", "", `{"cost_usd":"free"}`), ErrDamaged},
		{"empty", ``, ErrDamaged},
		{"no JSON", `run r1 started`, ErrDamaged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e Event
			if err := e.UnmarshalJSON([]byte(tt.line)); !errors.Is(err, tt.want) {
				t.Errorf("%s: error %v, want %v", tt.line, err, tt.want)
			}
		})
	}
}

// A kind that changed twice: "who" became "by", and trust became explicit.
func TestUpgrades(t *testing.T) {
	rename := func(old json.RawMessage) (json.RawMessage, error) {
		return bytes.Replace(old, []byte(`"who"`), []byte(`"by"`), 1), nil
	}
	explicit := func(old json.RawMessage) (json.RawMessage, error) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(old, &fields); err != nil {
			return nil, err
		}
		fields["trusted"] = json.RawMessage("true")
		return json.Marshal(fields)
	}
	kind := PersonSaid{}.Kind()
	c := codec{kind: shapeOf[PersonSaid](step{upgrade: rename}, step{upgrade: explicit})}
	want := PersonSaid{By: "slack:U1", Text: "hi", Trusted: true}
	for version, body := range map[int]string{
		1: `{"who":"slack:U1","text":"hi"}`,
		2: `{"by":"slack:U1","text":"hi"}`,
		3: `{"by":"slack:U1","text":"hi","trusted":true}`,
	} {
		got, err := c.decode(kind, version, []byte(body))
		if err != nil || !reflect.DeepEqual(got, Body(want)) {
			t.Errorf("version %d: %+v, %v; want %+v", version, got, err, want)
		}
	}
	if _, err := c.decode(kind, 4, []byte(`{}`)); !errors.Is(err, ErrNewer) {
		t.Errorf("version 4: %v, want ErrNewer", err)
	}
	if _, err := c.decode(kind, 2, []byte(`[]`)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a body that does not upgrade: %v, want ErrDamaged", err)
	}
}

// The fields that CONTRACT.md promises without a question mark are there even
// when they are empty.
func TestContractFields(t *testing.T) {
	promised := map[Kind]string{
		"run.started":        "goal",
		"plan.accepted":      "plan",
		"task.started":       "task",
		"task.ended":         "task state outputs",
		"model.answered":     "purpose model prompt_tokens completion_tokens cached_tokens cost_usd prompt_hash",
		"tool.intent":        "effect tool arguments",
		"tool.outcome":       "effect state trust",
		"checkpoint.opened":  "id checkpoint_kind title choices expires",
		"checkpoint.decided": "id decision by text",
		"budget.notice":      "kind percent",
		"finding":            "rule severity strand events message",
		"feedback":           "rating comment by",
		"report":             "headline body artifacts skipped",
		"run.ended":          "state cost_usd prompt_tokens completion_tokens model_calls",
	}
	for _, sample := range samples {
		empty, _ := reflect.TypeAssert[Body](reflect.Zero(reflect.TypeOf(sample)))
		for name, b := range map[string]Body{"full": sample, "empty": empty} {
			fields := encodedFields(t, b)
			for field := range strings.FieldsSeq(promised[b.Kind()]) {
				never := name == "empty" && field == "expires" // a question that never expires has no such time
				if _, there := fields[field]; !there && !never {
					t.Errorf("%s %s has no %q", name, b.Kind(), field)
				}
			}
		}
	}
	line, err := json.Marshal(sampleEvent(TimePassed{}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"run":"r1","strand":"task/t1","seq":7,"at":"2026-03-02T12:00:00.123456Z","kind":"time.passed","body":{}}`
	if string(line) != want {
		t.Errorf("line %s, want %s", line, want)
	}
}

func TestUnknownPriceIsNull(t *testing.T) {
	for _, tt := range []struct {
		body Body
		want string
	}{
		{ModelAnswered{}, "null"},
		{ModelAnswered{Cost: new(Nano(0))}, "0.00"},
		{ModelAnswered{Cost: new(Nano(1))}, "0.000000001"},
		{RunEnded{}, "null"},
		{RunEnded{Cost: new(3 * Dollar)}, "3.00"},
	} {
		if got := string(encodedFields(t, tt.body)["cost_usd"]); got != tt.want {
			t.Errorf("%+v: cost_usd %s, want %s", tt.body, got, tt.want)
		}
	}
}

// estimated and lost stand only where they are true.
func TestMarksAreAbsentWhenFalse(t *testing.T) {
	for _, field := range []string{"estimated", "lost"} {
		if v, there := encodedFields(t, ModelAnswered{})[field]; there {
			t.Errorf("%s is %s on a plain answer, want it absent", field, v)
		}
	}
}

func encodedFields(t *testing.T, b Body) map[string]json.RawMessage {
	t.Helper()
	data, err := EncodeBody(b)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestKindsAreSortedAndComplete(t *testing.T) {
	kinds := kindsOf(builtin)
	if !slices.IsSorted(kinds) {
		t.Errorf("not sorted: %v", kinds)
	}
	if len(samples) != len(kinds) {
		t.Errorf("%d samples of %d kinds", len(samples), len(kinds))
	}
	if v := Kind("telepathy.felt").Version(); v != 0 {
		t.Errorf("an unknown kind has version %d, want 0", v)
	}
}

func FuzzEvent(f *testing.F) {
	for _, b := range samples {
		data, err := sampleEvent(b).MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"kind":"tool.intent","body":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e Event
		if err := e.UnmarshalJSON(data); err != nil {
			if !errors.Is(err, ErrNewer) && !errors.Is(err, ErrDamaged) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		first, err := e.MarshalJSON()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		var again Event
		if err := again.UnmarshalJSON(first); err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		second, err := again.MarshalJSON()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v: first\n%s\nsecond\n%s", err, first, second)
		}
	})
}

// kindsOf returns every kind of event, sorted.
func kindsOf(c codec) []Kind { return slices.Sorted(maps.Keys(c)) }
