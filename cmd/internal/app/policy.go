package app

// This file reads the rules of an installation, and looks at them for commands
// and for people in chat.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// PolicyOf is the policy of an installation. What is wrong with one of its files is a
// *config.RefusedError with lines.
func PolicyOf(c config.Config) (*policy.Policy, error) {
	o := policy.Options{Places: map[string]*policy.File{}, Role: roles(c)}
	var err error
	if c.Policy != "" {
		if o.Everywhere, err = readPolicy(c.Policy); err != nil {
			return nil, err
		}
	}
	for place, ch := range c.Channels {
		if ch.Policy == "" {
			continue
		}
		if o.Places[place], err = readPolicy(ch.Policy); err != nil {
			return nil, err
		}
	}
	return policy.New(o), nil
}

func readPolicy(path string) (*policy.File, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, config.Refuse("there is no policy file %s", path)
	}
	if err != nil {
		return nil, config.Refuse("the policy cannot be read: %w", err)
	}
	f, err := policy.Read(path, data)
	if err != nil {
		return nil, &config.RefusedError{Cause: err}
	}
	return f, nil
}

// roles says what the requester of a run is: an operator of its place, or what the
// run was begun as.
func roles(c config.Config) func(r *agent.Run) string {
	who := authorityOf(c)
	return func(r *agent.Run) string {
		if r.Brief.Requester != bot.Terminal && authority.Includes(who.At(r.Brief.ReplyTo).Operators, bot.Person{ID: r.Brief.Requester}) {
			return "operator"
		}
		return policy.RoleOf(r)
	}
}

// PolicyInForce is what counts for a run of a place.
type PolicyInForce struct {
	Version  string         `json:"version"`
	Place    string         `json:"place"`
	Autonomy agent.Autonomy `json:"autonomy"`
	Rules    []policy.Line  `json:"rules"`
}

// Policies are the rules that are in force: those of the whole installation, and of
// each place that has some of its own.
func Policies(c config.Config) ([]PolicyInForce, error) {
	p, err := PolicyOf(c)
	if err != nil {
		return nil, err
	}
	places := []string{""}
	for place := range c.Channels {
		places = append(places, place)
	}
	var list []PolicyInForce
	for _, place := range places {
		r := agent.Run{Brief: agent.RunStarted{Autonomy: c.AutonomyIn(place)}}
		if place != "" {
			r.Brief.ReplyTo = place + strings.Repeat(":", max(0, 3-strings.Count(place, ":")))
		}
		list = append(list, PolicyInForce{p.Version(&r), place, r.Brief.Autonomy, p.Rules(&r)})
	}
	return list, nil
}

// casesBeside is the end of the name of a file with cases beside one with rules.
const casesBeside = ".cases"

// TestPolicy works the cases of a policy, and those of the file beside it
// (policy.yaml: policy.cases.yaml), and returns what fails, one a line.
func TestPolicy(path string, data []byte) (failures []string, cases int, err error) {
	f, err := policy.Read(path, data)
	if err != nil {
		return nil, 0, err
	}
	all := f.Cases
	ext := filepath.Ext(path)
	beside := strings.TrimSuffix(path, ext) + casesBeside + ext
	if more, err := os.ReadFile(beside); err == nil {
		list, err := policy.ReadCases(beside, more)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, list...)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("the cases cannot be read: %w", err)
	}
	for _, failure := range policy.Test(f, all) {
		failures = append(failures, failure.String())
	}
	return failures, len(all), nil
}

// inForce are the rules of this installation that count for a run, in plain words.
func inForce(p *policy.Policy) func(r agent.Run) []string {
	return func(r agent.Run) (list []string) {
		for _, line := range p.Rules(&r) {
			if line.Own {
				list = append(list, line.Says+" ("+line.Rule+")")
			}
		}
		return list
	}
}

// checkPolicy says how many rules of this installation are in force.
func checkPolicy(_ context.Context, c config.Config) (string, error) {
	list, err := Policies(c)
	if err != nil {
		return "", err
	}
	own := map[string]bool{}
	for _, p := range list {
		for _, line := range p.Rules {
			if line.Own {
				own[line.From+":"+line.Rule] = true
			}
		}
	}
	return fmt.Sprintf("%d rules of %d files, version %s", len(own), len(c.PolicyFiles()), list[0].Version), nil
}
