package bot

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// hinted reports whether the question takes a person's own words as the way
// out: what should be done differently.
func hinted(c agent.Checkpoint) bool {
	return c.Ask == agent.CheckStuck && slices.Contains(c.Choices, agent.DecideRetry)
}

// ReadHint reads a person's own words under a question of a run that is stuck:
// they let it try again, and tell it how. A word that is meant for a choice, or
// for a question of another kind, is no hint.
func ReadHint(c agent.Checkpoint, text, by string) (agent.CheckpointDecided, error) {
	d := agent.CheckpointDecided{ID: c.ID, By: by, Decision: agent.DecideRetry, Text: strings.TrimSpace(text)}
	if !hinted(c) || d.Text == "" || vague(c, d.Text) {
		return d, notOffered(c, d.Text)
	}
	return d, nil
}

// vague reports whether a text may be meant for one of the question's choices,
// or agrees with nothing that was asked.
func vague(c agent.Checkpoint, text string) bool {
	word := strings.ToLower(strings.TrimRight(strings.TrimSpace(text), ".!? "))
	_, short := words[word]
	_, decides := labels[word]
	if short || decides || word == "" {
		return true
	}
	if _, err := strconv.Atoi(word); err == nil {
		return true
	}
	return slices.ContainsFunc(c.Choices, func(choice string) bool { return near(word, choice) })
}

// near reports whether two words differ by no more than a typing error, long
// ones by two.
func near(a, b string) bool {
	from, to := []rune(a), []rune(b)
	most := 1
	if len(to) > 5 {
		most = 2
	}
	if len(from) > len(to)+most {
		return false
	}
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j := range to {
			cost := 1
			if from[i] == to[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)] <= most
}

// hint takes in what somebody who may decide it says under the oldest question
// of a run that is stuck: it tries again, and knows how.
func (h *hearing) hint(ctx context.Context, r agent.Run, text string, files []agent.Attachment) (a Answer, is bool, err error) {
	check, asks := h.question(r)
	if !asks || !hinted(check) || text == "" && len(files) == 0 {
		return Answer{}, false, nil
	}
	if text != "" && len(files) == 0 && vague(check, text) {
		return Answer{Run: r.ID, Private: "Did you mean to decide? Then press a button of the question, or say what I should do differently."}, true, nil
	}
	if len(files) == 0 {
		a, err := h.decide(ctx, check.ID, agent.CheckpointDecided{Decision: agent.DecideRetry, Text: text})
		return a, true, err
	}
	said := agent.PersonSaid{Text: text, Files: files}
	if err := h.wrote(h.cfg.Desk.relieve(ctx, h.in.By, check.ID, said, h.along)); err != nil {
		return Answer{}, true, &undecidedError{check.ID, err}
	}
	return h.marked(r.ID, "Noted."), true, nil
}

// relieve lets a run that is stuck try again with what a person says and gives,
// in one commit.
func (d *Desk) relieve(ctx context.Context, by Person, id agent.CheckpointID, said agent.PersonSaid, along Along) error {
	said.By, said.Trusted = by.ID, true
	for {
		r, check, err := d.asked(ctx, by, id)
		if err != nil {
			return err
		}
		_, err = d.Journals.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: r.ID, Seen: r.Seq, Strict: true, Once: along.Once, Set: along.Set,
			Events: []agent.Event{
				{Strand: agent.Main, Body: said},
				{Strand: check.Strand, Body: agent.CheckpointDecided{ID: id, Decision: agent.DecideRetry, By: by.ID}},
			}, Wake: r.Wakeful()})
		if !errors.Is(err, agent.ErrStale) {
			return err
		}
	}
}
