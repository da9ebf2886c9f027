package chat

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// scenario is a story with people.
type scenario struct {
	name string
	// model is what the model does; nil: it writes one file.
	model func() *scriptedModel
	// rules change the configuration before anybody works; nil: as it is.
	rules func(h *harness)
	play  func(h *harness)
}

// needs are the abilities without which a scenario makes no sense.
var needs = map[string]Ability{
	"goal/in a thread": Overhearing,

	"memory/told":                          Listening,
	"memory/told on Redis":                 Listening,
	"goal/with a file":                     Listening,
	"clarify/free text":                    Listening,
	"clarify/not by others":                Listening,
	"stuck/word in the thread":             Listening,
	"authority/a bot":                      Listening,
	"authority/audit":                      Listening,
	"authority/a bot that is not allowed":  Listening,
	"schedule/report by message":           Listening,
	"schedule/goal by message":             Listening,
	"talk/chatter":                         Listening,
	"talk/status is a card":                Listening,
	"talk/a file on the way":               Listening,
	"talk/understood stop":                 Listening, // what is given as the command "steer" is steering
	"talk/understood consent":              Listening,
	"talk/understood question":             Listening,
	"talk/understood schedule":             Listening,
	"talk/a run that is not there":         Listening,
	"talk/steering deleted":                Listening,
	"talk/extension":                       Listening,
	"talk/no model for words":              Listening,
	"privacy/a direct run":                 Listening,
	"privacy/a list":                       Listening,
	"privacy/a private place":              Listening,
	"fault/replies reordered":              Listening,
	"fault/thread deleted with a question": Listening, // who deletes something says so by an event
	"fault/question deleted":               Listening,
	"fault/goal after its reply":           Listening,
	"downtime/goal missed":                 Listening,
	"downtime/old goal":                    Listening,
	"downtime/old goal forgotten":          Listening,
	"downtime/answer missed":               Listening,
}

// atOnce is how many scenarios are played at the same time: most of their
// time they wait for a pace of the platform.
const atOnce = 8

// Run plays every scenario; DECKHAND_SOAK=1 adds those that take long.
func Run(t *testing.T, a Adapter) {
	t.Helper()
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	all := slices.Concat(goals, questions, decisions, permissions, []scenario{audited}, privacies, talks, memories, meanings, inputs, troubles, ladders, reports, schedules, faults, downtimes, replicas)
	if crash.Soak() {
		all = append(all, lengthyFaults...)
	}
	for name := range needs {
		if !slices.ContainsFunc(all, func(s scenario) bool { return s.name == name }) {
			t.Errorf("%q needs something, and is no scenario", name)
		}
	}
	all = slices.DeleteFunc(all, func(s scenario) bool {
		_, lacking := a.Lacks[needs[s.name]]
		return lacking || (a.Plays != nil && !a.Plays(s.name))
	})
	if len(all) == 0 {
		t.Error("no scenario is left to play")
	}
	for _, s := range all {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(s.name, func(t *testing.T) { s.run(t, a) })
		})
	}
	group.Wait()
}

func (s scenario) run(t *testing.T, a Adapter) {
	t.Helper()
	model := harbour()
	if s.model != nil {
		model = s.model()
	}
	h := open(t, a, model)
	if s.rules != nil {
		s.rules(h)
	}
	h.join()
	s.play(h)
	h.whole()
}

// harbour is a model that writes one file.
func harbour() *scriptedModel {
	return &scriptedModel{parts: []taskScript{work("a", once(write("berth.md", "ready\n")))}}
}

// harmless is a model that needs nobody's approval.
func harmless() *scriptedModel {
	return &scriptedModel{parts: []taskScript{work("a", once(sum("6*7")), once(sum("6*8")))}}
}

// click presses a button and wants the click to be taken.
func (h *harness) click(w Who, on Post, label string) {
	h.Helper()
	h.does(string(w)+" clicks "+label, func() error { return h.Click(w, on.Message, label) })
}

// does wants to be taken at once what somebody waits for. It may fail only
// where the machine was so busy that a bound inside Deckhand ran out: then
// whoever sees that it failed does it again.
func (h *harness) does(what string, do func() error) {
	h.Helper()
	const often, bound = 5, 1500 * time.Millisecond
	for n := 1; ; n++ {
		began := time.Now()
		err := do()
		took := time.Since(began)
		if err == nil {
			return
		}
		if n == often || took < bound {
			h.Fatalf("%s (try %d, %s): %v\n%s", what, n, took, err, h.scene())
		}
	}
}

// form presses a button that opens a form, and sends that.
func (h *harness) form(w Who, on Post, label string, value func(fields []string) map[string]string) {
	h.Helper()
	h.opened(w, func() error { return h.Click(w, on.Message, label) }, value)
}

// opened does what opens a form, and sends that. A platform lets a form be
// opened for seconds only: a person who is told that it took too long does it
// again.
func (h *harness) opened(w Who, press func() error, value func(fields []string) map[string]string) {
	h.Helper()
	fields := h.opens(w, press)
	if err := h.Fill(w, value(fields)); err != nil {
		h.Fatalf("%s fills the form in: %v", w, err)
	}
}

// opens does what opens a form, and returns its fields.
func (h *harness) opens(w Who, press func() error) (fields []string) {
	h.Helper()
	for open := false; !open; {
		before := len(h.Whispers(w))
		h.does(string(w)+" opens a form", press)
		h.sees(string(w)+" has a form", func() bool {
			fields, open = h.Form(w)
			late := h.Whispers(w)[before:]
			return open || slices.ContainsFunc(late, func(s string) bool { return strings.Contains(s, "took too long") })
		})
	}
	return fields
}

// clicks presses a button until that is taken, as a person does whom a warning
// sign told that it was not: after a connection was lost.
func (h *harness) clicks(w Who, on Post, label string) {
	h.Helper()
	const often = 5
	var err error
	for range often {
		h.greet()
		if err = h.Click(w, on.Message, label); err == nil {
			return
		}
	}
	h.Fatalf("%s clicked %q %d times in vain: %v\n%s", w, label, often, err, h.scene())
}
