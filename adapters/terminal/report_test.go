package terminal

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
)

func TestEndSaysHowEarlierRunsEnded(t *testing.T) {
	r := agent.Run{Ended: &agent.RunEnded{State: agent.RunDone}, Report: &theReport}
	text := func() string {
		var b strings.Builder
		for _, row := range page.card(card.Report(r)) {
			for _, s := range row {
				b.WriteString(s.text)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	if got := text(); strings.Contains(got, "Earlier") {
		t.Errorf("of no earlier run it says\n%s", got)
	}
	r.Recalled = &agent.Recalled{Episodes: []agent.Episode{{State: agent.RunFailed}, {State: agent.RunDone, Rating: 1}}}
	if got := text(); !strings.Contains(got, "\nEarlier runs of this goal: failed, done (rated +1) · with this one 2 of 3 done\n") {
		t.Errorf("it says\n%s", got)
	}
}
