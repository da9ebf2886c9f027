package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func TestEnv(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "",
		`{"image":"python:3.13-slim","runtime":"python","packages":["pandas==2.2.3","httpx[http2]>=0.27"],"files":["data/a.csv"],"environment":{"MODE":"fast"},
			"network":["pypi.org","*.pythonhosted.org"],"memory":"1GiB","processor":1.5,"processes":64,"disk":"2 GB","wall":"10m"}`: "",
		`{"memory":536870912,"wall":90}`:           "",
		`{"memory":"much"}`:                        "memory",
		`{"memory":"-5MiB"}`:                       "memory",
		`{"memory":"65GiB"}`:                       "more memory",
		`{"disk":"2TB"}`:                           "disk",
		`{"wall":"forever"}`:                       "wall",
		`{"wall":"48h"}`:                           "longer than 24h",
		`{"processes":-1}`:                         "processes",
		`{"processor":1000}`:                       "processor",
		`{"runtime":"cobol"}`:                      "cobol",
		`{"image":"-v /:/host x"}`:                 "image",
		`{"packages":["--index-url=http://evil"]}`: "package",
		`{"packages":["a; rm -rf /"]}`:             "package",
		`{"network":["http://a.example/"]}`:        "hosts",
		`{"files":["../secret"]}`:                  "files",
		`{"files":["/etc/passwd"]}`:                "files",
		`{"environment":{"LD_PRELOAD":"x.so"}}`:    "LD_PRELOAD",
		`{"environment":{"https_proxy":"evil:1"}}`: "https_proxy",
		`{"environment":{"A B":"x"}}`:              "A B",
	} {
		var env agent.Env
		if err := json.Unmarshal([]byte(text), &env); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		p := agent.Plan{Name: "p", Tasks: []agent.Task{{ID: "t1", Title: "Count the rows", Effort: 1, Value: 1, Deliverable: true, Env: &env}}}
		_, found := plan.Check(p, plan.Options{})
		var said []string
		for _, f := range found {
			if f.Code == "V21" {
				said = append(said, f.Message)
			}
		}
		got := strings.Join(said, "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
