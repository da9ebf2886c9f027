package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A report finds the files that it means, however it calls them.
func TestFilesOfAReport(t *testing.T) {
	j := planned()
	j.on(Main, TaskStarted{Task: "a"})
	j.answer("task/a", "write").on("task/a", ToolIntent{Effect: "task/a.1.0"},
		ToolOutcome{Effect: "task/a.1.0", State: OutcomeOK, Files: []string{"notes/v2.4.md", "tmp/x.txt"}})
	j.on("task/a", TaskEnded{Task: "a", State: TaskDone, Outputs: []Output{
		{Name: "table", File: "out/costs.csv"}, {Name: "cost_chart", File: "./out/chart.png"}, {Name: "total"},
	}})
	for _, tt := range []struct {
		rep  Reported
		want Texts
	}{
		{Reported{}, Texts{}},
		{Reported{Body: "The table shows all of it; see the chart."}, Texts{}},
		{Reported{Artifacts: Texts{"table"}}, Texts{"out/costs.csv"}},
		{Reported{Artifacts: Texts{"Cost_Chart", "out/chart.png", "chart.png"}}, Texts{"out/chart.png"}},
		{Reported{Artifacts: Texts{"costs.csv", "elsewhere.md"}}, Texts{"out/costs.csv", "elsewhere.md"}},
		{Reported{Body: "See `table` and cost_chart."}, Texts{"out/costs.csv", "out/chart.png"}},
		{Reported{Headline: "Wrote notes/v2.4.md", Body: "in full"}, Texts{"notes/v2.4.md"}},
		{Reported{Body: "v2.4.md: 9 lines, and my-costs.csv is another file"}, Texts{"notes/v2.4.md"}},
		{Reported{Body: "not_cost_chart, nor out/chart.png.bak"}, Texts{}},
	} {
		if diff := cmp.Diff(tt.want, FilesOf(j.Run, tt.rep)); diff != "" {
			t.Errorf("%+v:\n%s", tt.rep, diff)
		}
	}
}
