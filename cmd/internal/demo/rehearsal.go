package demo

import (
	"context"
	_ "embed"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm/rehearsal"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// survey is the scenario: what the model answers.
//
//go:embed survey.yaml
var survey []byte

// Name is the model's, and that of the principal that decides where nobody sits
// at the terminal.
const Name = "rehearsal"

// Files are the names of the files that the demo writes. The zero value is the
// plain ones.
type Files struct{ number int }

// Report is the report's name.
func (f Files) Report() string { return f.name("REPORT", ".md") }

// Chart is the chart's name.
func (f Files) Chart() string { return f.name("deckhand-survey", ".png") }

func (f Files) name(stem, ext string) string {
	if f.number == 0 {
		return stem + ext
	}
	return stem + "-" + strconv.Itoa(f.number) + ext
}

// ownReport is what every report of the demo says, and nobody else's.
const ownReport = "counted as `wc -l` does; `.git`, `vendor` and `node_modules` do not count."

// chartWidth is how wide the charts of the plot tool are, in pixels.
const chartWidth = 1350

// ownChart reports whether the file is a chart as the demo draws it.
func ownChart(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	c, err := png.DecodeConfig(f)
	return err == nil && c.Width == chartWidth
}

// maxFiles is how many names are tried.
const maxFiles = 1000

// FilesIn are names that replace nobody's file in the directory: only those of an
// earlier demo.
func FilesIn(dir string) (Files, error) {
	taken := func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && !info.IsDir() // a folder of the name keeps the demo from writing, and it says so
	}
	for f := (Files{}); f.number < maxFiles; f.number++ {
		if f.number == 1 {
			continue // the second is number 2
		}
		report, err := os.ReadFile(filepath.Join(dir, f.Report()))
		own := err == nil && strings.Contains(string(report), ownReport)
		if (own || !taken(f.Report())) && (ownChart(filepath.Join(dir, f.Chart())) || !taken(f.Chart())) {
			return f, nil
		}
	}
	return Files{}, fmt.Errorf("%s has a REPORT.md, and so many of that name that the demo finds none that is free", dir)
}

// reportName is how a goal of the demo names the report.
var reportName = regexp.MustCompile(`REPORT-([0-9]+)\.md`)

// FilesOf are the names that a run of the demo works with, by its goal.
func FilesOf(goal string) Files {
	if m := reportName.FindStringSubmatch(goal); m != nil {
		n, _ := strconv.Atoi(m[1]) // a number that does not fit is none of the demo's
		return Files{n}
	}
	return Files{}
}

// NewModel is the demo's model, which writes the files. It takes its time where
// somebody watches.
func NewModel(watched bool, f Files) (*rehearsal.Model, error) {
	names := strings.NewReplacer(Files{}.Report(), f.Report(), Files{}.Chart(), f.Chart())
	scenario, err := rehearsal.Parse("survey.yaml", []byte(names.Replace(string(survey))))
	if err != nil {
		return nil, err
	}
	var speed float64
	if watched {
		speed = 1
	}
	return rehearsal.New(scenario, rehearsal.Config{Speed: speed}), nil
}

// Configure makes a configuration the demo's, in a directory.
func Configure(c config.Config, dir string) (config.Config, error) {
	var err error
	c.Workspace, err = filepath.Abs(dir)
	c.Model.Name = Name
	c.Model.Prices = map[string]config.Price{Name: {}} // a script costs nothing
	c.Redis.URL, c.HTTP = config.Secret{}, "off"
	return c, err
}

// Brief is the demo's run.
func Brief(c config.Config, f Files) agent.RunStarted {
	return agent.RunStarted{
		Goal: "Survey the source files of " + filepath.Base(c.Workspace) +
			": count files and lines by folder, find the longest files, draw a chart, and write it all to " + f.Report() + ".",
		Autonomy: agent.AskRisky, Expires: c.Authority.Expires, Slots: c.Engine.Slots,
		Limits: agent.Limits{Tokens: c.Budget.Run.Tokens, Steps: c.Budget.Run.Steps},
	}
}

// Began reports whether the demo began the run, which its script then goes on
// with: another model would be asked to end what it did not plan.
func Began(ctx context.Context, s app.Store, run agent.RunID) (bool, error) {
	events, err := s.Read(ctx, run, 0)
	if err != nil {
		return false, err
	}
	for _, e := range events {
		if asked, is := e.Body.(agent.ModelAsked); is {
			return asked.Model == Name, nil
		}
	}
	return false, nil
}
