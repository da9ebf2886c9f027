package agent

import (
	"strings"
	"testing"
	"time"
)

// Scripts rely on these fields, also where there is nothing in them (CONTRACT.md).
func TestFieldsOfTheContractAreAlwaysThere(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	finished := Run{Strands: Strands{TableOf(map[StrandID]Strand{"task/a": {
		Finishing: &TaskFinishing{Task: "a"}, Judged: &TaskJudged{Task: "a", Accepted: true},
	}})}}.Next("task/a")
	end, is := finished.Steps[0].(Decide)
	if !is {
		t.Fatalf("a finished task does %+v", finished)
	}
	for _, tt := range []struct {
		body Body
		want string
	}{
		{CheckpointOpened{ID: "c", Choices: []string{"<a>"}}, `"expires":null`},
		{CheckpointOpened{ID: "c", Choices: []string{"<a>"}, Expires: at}, `"expires":"2026-03-02T12:00:00Z"`},
		{CheckpointOpened{ID: "c", Choices: []string{"<a>"}}, `"choices":["<a>"]`},
		{end.Events[0].Body, `"outputs":[]`},
	} {
		got, err := EncodeBody(tt.body)
		if err != nil || !strings.Contains(string(got), tt.want) {
			t.Errorf("%s has no %s: %s, %v", tt.body.Kind(), tt.want, got, err)
		}
	}
}
