package reach

// This file tells administrators of a model whose endpoint gives no answers,
// once an outage over all runs and processes.

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// AlertModel is the kind of alert about a model that gives no answers.
const AlertModel = "model"

// outage begins the names of models that give no answers, with the time since
// when that is known.
const outage = "outage/"

const (
	lookAgain = time.Minute    // how soon a process looks again whether people were told
	remind    = 24 * time.Hour // how soon people are told again of one that lasts
)

// Models are the models of all processes of a store.
type Models struct {
	Store bot.Records
	// Alert tells the administrators; nil: nobody is told.
	Alert func(ctx context.Context, a bot.Alert)
	Log   *slog.Logger

	mu    sync.Mutex
	known map[string]time.Time // models by when they were looked for; zero: they answer
}

// Away notes that a model gives no answers. Why is in a few words without hosts;
// refused says that a person has to mend it.
func (m *Models) Away(ctx context.Context, model, why string, refused bool) {
	if !m.looks(model) {
		return
	}
	name := outage + model
	since, err := m.Store.Value(ctx, name)
	now, timeErr := m.Store.Now(ctx)
	if err = cmp.Or(err, timeErr); err != nil {
		m.Log.Warn("it is not known whether somebody was told of a model that gives no answers", "model", model, "err", err)
		return
	}
	if at, err := time.Parse(time.RFC3339, since); err == nil && now.Sub(at) < remind {
		return
	}
	if m.Alert != nil {
		minute := now.UTC().Format("2006-01-02T15:04") // two processes may find it out at once
		m.Alert(ctx, bot.Alert{ID: AlertModel + "/" + model + "/" + minute, Kind: AlertModel, Text: outageWords(model, why, refused)})
	}
	if err := m.Store.SetValue(ctx, name, now.UTC().Format(time.RFC3339)); err != nil {
		m.Log.Warn("that a model gives no answers cannot be noted", "model", model, "err", err)
	}
}

// outageWords say what happened, to what, and what to do.
func outageWords(model, why string, refused bool) string {
	line := "No run gets an answer of the model " + text.Quoted(model, 80) + ": its endpoint " + cmp.Or(text.InLine(why, 100), "does not answer") + ". "
	if refused {
		return line + "Only a change of the configuration mends that: `deckhand doctor` says which. Runs ask again by themselves for a while, and then pause until somebody resumes them."
	}
	return line + "Runs ask again by themselves for a while, and then pause until somebody resumes them. Where it does not come back, `deckhand doctor` says what is wrong."
}

// looks reports whether this process is to look whether people were told.
func (m *Models) looks(model string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if at := m.known[model]; now.Sub(at) < lookAgain {
		return false
	}
	if m.known == nil {
		m.known = map[string]time.Time{}
	}
	m.known[model] = now
	return true
}

// Back notes that a model answers. Only the first answer of a process, and the
// first one after an outage that it knows of, are looked at any closer.
func (m *Models) Back(ctx context.Context, model string) {
	m.mu.Lock()
	at, known := m.known[model]
	if known && at.IsZero() {
		m.mu.Unlock()
		return
	}
	if m.known == nil {
		m.known = map[string]time.Time{}
	}
	m.known[model] = time.Time{}
	m.mu.Unlock()
	since, err := m.Store.Value(ctx, outage+model)
	if err == nil && since != "" {
		err = m.Store.SetValue(ctx, outage+model, "")
		m.Log.Info("a model answers again", "model", model, "since", since)
	}
	if err != nil {
		m.Log.Warn("that a model answers again cannot be noted", "model", model, "err", err)
	}
}
