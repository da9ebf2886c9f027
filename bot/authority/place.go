package authority

// This file says where a run lives, and who may carry it elsewhere: what lives
// in a private channel or a direct conversation is told nowhere else.

import (
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// LivesAt reports whether the run belongs to the channel of an address, so that
// everybody there may hear of it: it answers there, or was shown there by
// somebody who may.
func LivesAt(r agent.Run, at bot.Address) bool {
	return at.Channel != "" && slices.ContainsFunc(append([]string{r.Brief.ReplyTo}, r.Watched...), func(where string) bool {
		a, err := bot.ParseAddress(where)
		return err == nil && a.Place() == at.Place()
	})
}

// MayShow reports whether the person may have the run shown at a place where it
// does not live: who may steer it, and of a direct conversation the requester
// alone.
func (a Authority) MayShow(r agent.Run, by bot.Person) bool {
	return IsRequester(r, by) || by.AtTerminal() || !r.Brief.Direct && a.MaySteer(r, by)
}
