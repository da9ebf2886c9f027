package intake

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Live sums up the newest runs that have not ended and that the person may
// look at from the place, at most 20 out of the newest 100 live runs of the store.
func (c *Chat) Live(ctx context.Context, p bot.Person, at bot.Address) ([]card.Status, error) {
	req := c.asking(p, at)
	runs, err := c.newestRuns(ctx, maxListed, true, req.maySee)
	list := make([]card.Status, len(runs))
	for i, r := range runs {
		list[i] = card.StatusOf(r)
	}
	return list, err
}

// Schedules are those that the person may see or manage from the place, sorted
// by name. Beside an error there are the ones that could be read.
func (c *Chat) Schedules(ctx context.Context, p bot.Person, at bot.Address) ([]recurring.Schedule, error) {
	req := scheduleOrder{request: c.asking(p, at)}
	all, err := c.cfg.Recurring.List(ctx)
	var list []recurring.Schedule
	for _, s := range all {
		if req.sees(s) || req.manages(s) {
			list = append(list, s)
		}
	}
	return list, err
}

// asking is somebody who only looks.
func (c *Chat) asking(p bot.Person, at bot.Address) *request {
	return &request{Chat: c, in: bot.Inbound{By: p, Where: at}, now: time.Now()}
}

// Bounds of what is offered to be said.
const (
	maxPromptTitle = 40  // characters
	maxPromptGoal  = 400 // characters of a goal that is offered again
	maxAgain       = 2   // such goals
)

// suggester knows what people could ask for.
type suggester struct{ *request }

// opened offers what the person may say in the conversation that they have
// opened.
func (req suggester) opened(ctx context.Context, o bot.Opened) (bot.Answer, error) {
	list, err := req.prompts(ctx, o.Viewing)
	if err != nil {
		return bot.Answer{}, err
	}
	return bot.Answer{Prompts: &bot.Prompts{Title: "What shall I do?", List: list}}, nil
}

// prompts are goals that fit the channel that the person looks at, else the
// person: what went well there before, and what is usual for such a place.
func (req suggester) prompts(ctx context.Context, viewing bot.Address) ([]bot.Prompt, error) {
	var list []bot.Prompt
	offered := map[string]bool{}
	_, err := req.newestRuns(ctx, maxAgain, false, func(r agent.Run) bool {
		goal := strings.TrimSpace(r.Brief.Goal)
		here := authority.IsRequester(r, req.in.By)
		if viewing.Channel != "" {
			here = !r.Brief.Direct && placeOf(r) == viewing.Place()
		}
		fits := here && r.Ended != nil && r.Ended.State == agent.RunDone && r.Plans > 0 && r.Brief.Tick == nil && !offered[goal] &&
			utf8.RuneCountInString(goal) <= maxPromptGoal
		if fits {
			offered[goal] = true
			list = append(list, bot.Prompt{Title: text.InLine("Again: "+goal, maxPromptTitle), Text: goal})
		}
		return fits
	})
	if err != nil {
		return nil, err
	}
	if viewing.Channel != "" {
		name, about := req.describe(ctx, viewing)
		list = append(list, aboutPlace(name, about)...)
	} else {
		list = append(list, bot.Prompt{Title: "What did you do for me lately?", Text: "runs"})
	}
	return append(list, bot.Prompt{Title: "What can you do?", Text: "help"}), nil
}

// aboutPlace are goals for a channel by its name and what it is for.
func aboutPlace(name, about string) []bot.Prompt {
	if name == "" {
		return nil
	}
	sum := bot.Prompt{Title: text.InLine("Sum up #"+name, maxPromptTitle), Text: "Sum up what was said in #" + name + " today: what was decided, and what is still open"}
	if about = format.Line(about, maxPromptGoal/4); about == "" {
		return []bot.Prompt{sum}
	}
	return []bot.Prompt{sum, {Title: text.InLine("Next for: "+about, maxPromptTitle), Text: "#" + name + " is about “" + about + "”. From what was said there lately, list what should be done next"}}
}

// describe is what a channel is called and what it is for, as far as its platform
// says so in time.
func (req suggester) describe(ctx context.Context, at bot.Address) (name, about string) {
	d, can := req.platform(at.Platform).(bot.Describer)
	if !can {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	name, about, err := d.Describe(ctx, at)
	if err != nil {
		req.cfg.Log.Info("a channel is not described; the prompts do without", "where", at.Place(), "err", err)
	}
	return text.InLine(name, maxPromptTitle), text.InLine(about, maxPromptGoal)
}

// examples are three sentences that can be said at the place, for help.
func (req suggester) examples(here agent.Run, live bool) []string {
	at := "@" + req.cfg.Name + " "
	if _, said := req.in.Act.(bot.Said); !said || req.alone() {
		at = ""
	}
	switch {
	case live:
		return []string{at + "is it going well?", at + "leave the tests out, and write the summary first", at + "stop"}
	case here.ID != "" && here.Report != nil:
		return []string{at + "now the same for last month", at + "why did you leave that out?", at + "every Monday at 9:00: do this again"}
	case req.alone():
		return []string{at + "compare these two files and tell me what changed", at + "tomorrow at 9: list what is still open for me", at + "draft the release notes for v2.4 in notes/v2.4.md"}
	}
	return []string{at + "sum up what was decided here this week", at + "every weekday at 9:00: list the pull requests that wait for a review", at + "draft the release notes for v2.4 in notes/v2.4.md"}
}
