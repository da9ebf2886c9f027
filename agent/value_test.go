package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A table is what a map is, in the order of its keys, and one that another was
// made of stays as it was.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table[TaskID, int]
		want := map[TaskID]int{}
		type before struct {
			table Table[TaskID, int]
			want  map[TaskID]int
		}
		var all []before
		for range rapid.IntRange(0, 5*row).Draw(t, "changes") {
			k, v := TaskID(fmt.Sprint("t", rapid.IntRange(0, 3*row).Draw(t, "key"))), rapid.Int().Draw(t, "value")
			all = append(all, before{table, maps.Clone(want)})
			table, want[k] = table.With(k, v), v
			if got := table.Of(k); got != v || !table.Has(k) {
				t.Fatalf("%s is %d, want %d", k, got, v)
			}
		}
		for _, b := range append(all, before{table, want}) {
			if got := maps.Collect(b.table.All()); !maps.Equal(got, b.want) || b.table.Len() != len(b.want) || b.table.IsZero() != (len(b.want) == 0) {
				t.Fatalf("table %v, want %v", got, b.want)
			}
		}
		var keys []TaskID
		for k := range table.All() {
			keys = append(keys, k)
		}
		if _, known := table.Get("none"); known || table.Has("none") || table.Of("none") != 0 || !slices.IsSorted(keys) {
			t.Fatalf("keys %v", keys)
		}
		data, err := json.Marshal(table)
		var read Table[TaskID, int]
		if err == nil {
			err = json.Unmarshal(data, &read)
		}
		if err != nil || !maps.Equal(maps.Collect(read.All()), want) {
			t.Fatalf("%s was read as %v, %v; want %v", data, maps.Collect(read.All()), err, want)
		}
	})
}

// What a step costs does not grow with the tasks that are at work beside it.
func TestApplyCostsTheSameAtManyTasks(t *testing.T) {
	cost := func(tasks int) float64 {
		r := working(tasks)
		e := Event{Run: "r1", Strand: TaskStrand("t0"), Seq: r.Seq + 1, At: noon, Body: ModelAsked{Call: "c"}}
		return testing.AllocsPerRun(100, func() { r.Apply(e) })
	}
	if few, many := cost(4), cost(256); many > few {
		t.Errorf("an event costs %.0f allocations with 256 tasks at work, %.0f with 4", many, few)
	}
}
