package posting

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// heard is a voice on a stage.
type heard struct {
	*Poster
	stage *bottest.Stage
	turns *bottest.Paces
	files bottest.Shelf
	lives lives
	log   *bytes.Buffer
}

const (
	cardEvery   = 3 * time.Second
	heartbeat   = time.Minute
	postTimeout = 3 * time.Second
)

// stageApprovers are who decides in these tests.
var stageApprovers = authority.Authority{Operators: []string{"slack:U7"}, Approvers: []string{"U5", "discord:6", "slack:S2"}}

func onStage(t *testing.T) *heard {
	t.Helper()
	h := &heard{stage: &bottest.Stage{ID: "slack", DM: bot.Address{Platform: "slack", Workspace: "T1", Channel: "D", ID: ""}, Found: map[string]bot.Posted{}, Files: map[string]string{}},
		turns: &bottest.Paces{}, files: bottest.Shelf{}, lives: lives{}, log: &bytes.Buffer{}}
	h.open(t, h.stage)
	return h
}

// open gives the voice other platforms.
func (h *heard) open(t *testing.T, platforms ...bot.Platform) {
	t.Helper()
	h.Poster = New(Config{Platforms: platforms, Paces: h.turns, Residents: h.lives, Audience: stageApprovers.Audience, Files: h.files,
		CardEvery: cardEvery, Heartbeat: heartbeat, PostTimeout: postTimeout, Log: slog.New(slog.NewTextHandler(h.log, nil))})
}

// call is how the loop calls a post: with its deadline, and a context that ends there.
func (h *heard) call(t *testing.T, r agent.Run, p agent.Post) agent.Result {
	t.Helper()
	end := time.Now().Add(h.Deadline(p))
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	return h.Post(ctx, r, p, agent.Call{Deadline: end})
}

// lives says which run lives in a thread; "": the store does not answer.
type lives map[string]string

func (l lives) Value(_ context.Context, name string) (string, error) {
	run, known := l[name]
	if known && run == "" {
		return "", bottest.ErrNoReason
	}
	return run, nil
}
