package demo

import (
	"context"
	_ "embed"
	"path/filepath"

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

// NewModel is the demo's model. It takes its time where somebody watches.
func NewModel(watched bool) (*rehearsal.Model, error) {
	scenario, err := rehearsal.Parse("survey.yaml", survey)
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
func Brief(c config.Config) agent.RunStarted {
	return agent.RunStarted{
		Goal: "Survey the source files of " + filepath.Base(c.Workspace) +
			": count files and lines by folder, find the longest files, draw a chart, and write it all to REPORT.md.",
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
