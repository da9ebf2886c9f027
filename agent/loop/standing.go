package loop

import (
	"encoding/json"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/prompt"
)

// status answers a look at where things stand, from the fold: it asks nobody
// and changes nothing. Titles and names in it are a model's words, so it is
// framed as data.
func (t *turn) status(view agent.Run, c agent.OpenCall) error {
	id, _ := t.lease.Strand.Task()
	line, err := json.Marshal(view.Standing(id))
	if err != nil {
		return fmt.Errorf("write down where run %s stands: %w", view.ID, err)
	}
	t.reply(c, "Where things stand, from Deckhand's own records:\n"+prompt.Frame(string(line), agent.Untrusted))
	return nil
}
