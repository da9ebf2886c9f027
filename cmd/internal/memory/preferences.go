package memory

// This file is what people say about records and reports: they vouch for one
// (accept), and of two reports of one goal they preferred one (export
// --preferences).

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/reflect"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/recall"
)

// attempt is a run of a goal with its report and what people thought of it.
type attempt struct {
	run     agent.RunID
	goal    string
	text    string
	rating  int
	comment string
}

// preference is a pair of reports of one goal, as preference learning reads them.
type preference struct {
	Prompt          string      `json:"prompt"`
	Chosen          string      `json:"chosen"`
	Rejected        string      `json:"rejected"`
	ChosenRun       agent.RunID `json:"chosen_run"`
	RejectedRun     agent.RunID `json:"rejected_run"`
	ChosenRating    int         `json:"chosen_rating"`
	RejectedRating  int         `json:"rejected_rating"`
	ChosenComment   string      `json:"chosen_comment,omitempty"`
	RejectedComment string      `json:"rejected_comment,omitempty"`
}

// exportPreferences writes a pair a line.
func (h Host) exportPreferences(ctx context.Context) error {
	return h.Open(ctx, func(_ config.Config, s app.Store) error {
		list, err := preferences(ctx, s)
		if err != nil {
			return h.Failed(err)
		}
		out := bufio.NewWriter(h.Out)
		lines := json.NewEncoder(out)
		lines.SetEscapeHTML(false)
		for _, p := range list {
			if err := lines.Encode(p); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// preferences are the pairs: of each goal, within its place, every attempt with
// the best one that was rated higher.
func preferences(ctx context.Context, s app.Store) ([]preference, error) {
	infos, err := s.Runs(ctx, agent.RunFilter{})
	if err != nil {
		return nil, err
	}
	goals := map[string][]attempt{}
	for _, info := range infos {
		events, err := s.Read(ctx, info.Run, 0)
		if errors.Is(err, agent.ErrNoRun) {
			continue // it has just expired
		}
		if err != nil {
			return nil, fmt.Errorf("read the run %s: %w", info.Run, err)
		}
		if name, a := attemptOf(events); a.text != "" {
			goals[name] = append(goals[name], a)
		}
	}
	var list []preference
	for _, tried := range goals {
		list = append(list, pairs(tried)...)
	}
	slices.SortFunc(list, func(a, b preference) int {
		return cmp.Or(cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.ChosenRun, b.ChosenRun), cmp.Compare(a.RejectedRun, b.RejectedRun))
	})
	return list, nil
}

// attemptOf reads a run's journal; name is that of its goal in its place.
func attemptOf(events []agent.Event) (name string, a attempt) {
	e := reflect.Remember(events)
	a = attempt{run: e.Run, goal: e.Goal, rating: e.Rating, comment: e.Comment}
	for _, ev := range events {
		switch b := ev.Body.(type) { //nolint:gochecksumtype // the other kinds hold neither a goal nor a report
		case agent.RunStarted:
			name = agent.GoalPrefix(b)
		case agent.Reported:
			a.text = b.Headline + "\n\n" + b.Body
		}
	}
	return name, a
}

// pairs hold each attempt against the best of its goal.
func pairs(tried []attempt) []preference {
	best := slices.MaxFunc(tried, func(a, b attempt) int { return cmp.Or(cmp.Compare(a.rating, b.rating), cmp.Compare(b.run, a.run)) })
	var list []preference
	for _, a := range tried {
		if a.rating < best.rating && a.text != best.text {
			list = append(list, preference{Prompt: best.goal, Chosen: best.text, Rejected: a.text, ChosenRun: best.run, RejectedRun: a.run,
				ChosenRating: best.rating, RejectedRating: a.rating, ChosenComment: best.comment, RejectedComment: a.comment})
		}
	}
	return list
}

func memoryAccept(h Host) *cobra.Command {
	return &cobra.Command{
		Use: "accept ID", Short: "Vouch for a record: a skill that a run proposed, what somebody else said", Args: h.Single("ID", "`deckhand memory list` shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return h.remembered(cmd.Context(), func(m *recall.Memory) error {
				list, err := m.Accept(cmd.Context(), atTerminal, args[0])
				return h.changed(list, err, args[0], "accepted")
			})
		},
	}
}
