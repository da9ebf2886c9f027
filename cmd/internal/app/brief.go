package app

import (
	"fmt"
	"io"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// briefOf is everything that is decided about a run of a place before it
// starts, without who wants what.
func briefOf(c config.Config, place string) (agent.RunStarted, error) {
	limits, err := affordable(c, place)
	return agent.RunStarted{
		Limits: limits, PlanApproval: c.PlanApprovalIn(place), Autonomy: c.AutonomyIn(place),
		Expires: c.Authority.Expires, Slots: c.Engine.Slots, CheckIns: c.CheckIns.Steps, Quorum: c.Authority.Quorum,
		Reviewers: c.ReviewersIn(place),
	}, err
}

// TerminalBrief is everything that is decided about a run from the terminal
// before it starts. It tells a person where their money limit does not hold.
func TerminalBrief(c config.Config, goal string, yesTo []string, notice io.Writer) (agent.RunStarted, error) {
	b, err := briefOf(c, "")
	if err != nil {
		return agent.RunStarted{}, err
	}
	if asked, _ := c.LimitsIn(""); asked.USD > b.Limits.USD {
		fmt.Fprintf(notice, "note: the model %q has no price in the configuration, so money is not counted; the limit is %d tokens\n",
			c.Model.Name, b.Limits.Tokens)
	}
	if err := countable(c); err != nil {
		return agent.RunStarted{}, err
	}
	if _, err := PolicyOf(c); err != nil {
		return agent.RunStarted{}, err
	}
	b.Goal, b.Requester, b.YesTo, b.Unattended = goal, bot.Terminal, yesTo, len(yesTo) > 0
	b.Approvers, b.Quorum = slices.Clone(c.Authority.Approvers), 0 // one person sits at a terminal
	return b, nil
}

// authorityOf is who may do what.
func authorityOf(c config.Config) authority.Authority {
	places := make(map[string]authority.Place, len(c.Channels))
	for place, ch := range c.Channels {
		places[place] = authority.Place{Start: ch.Authority.Start, Operators: ch.Authority.Operators, Approvers: ch.Authority.Approvers}
	}
	return authority.Authority{
		Start: c.Authority.Start, Operators: c.Authority.Operators, Approvers: c.Authority.Approvers,
		RequesterMayApprove: c.Authority.RequesterMayApprove, Quorum: c.Authority.Quorum,
		AllowBots: c.Authority.AllowBots, Admins: c.Authority.Admins, Places: places,
	}
}

// steers says who may steer a run, whatever it was when they spoke.
func steers(c config.Config) func(r agent.Run, by string, also []string) bool {
	who := authorityOf(c)
	return func(r agent.Run, by string, also []string) bool {
		return who.MaySteer(r, bot.Person{ID: by, Also: also})
	}
}
