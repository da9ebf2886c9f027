package chat

import (
	"slices"
	"strings"
	"time"
)

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
