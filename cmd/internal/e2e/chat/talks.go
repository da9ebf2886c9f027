package chat

// This file holds the scenarios of what people say while a run works:
// steering, chatter, words of control, questions, follow-ups and files.

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// talks are about what people say while a run goes on.
var talks = []scenario{
	{"talk/steer", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		said := h.Mention(Ann, card.Thread, "use blue paint")
		h.sees("it is marked as noted", func() bool { return slices.Contains(h.Marks(said), "memo") })
		h.heard(run, Ann, "use blue paint", true)
		release()
		h.ends(run, agent.RunDone)
		for _, r := range h.model.requests(llm.Work) {
			if got := read(r); turnOf(r) > 0 && !strings.Contains(got, "use blue paint") {
				h.Errorf("a step after it did not know:\n%s", got)
			}
		}
	}},
	{"talk/chatter", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		said := h.Say(Cleo, card.Thread, "forget the harbour, do my tax")
		h.heard(run, Cleo, "forget the harbour, do my tax", false)
		release()
		h.ends(run, agent.RunDone)
		if marks := h.Marks(said); slices.Contains(marks, "memo") {
			h.Errorf("somebody else's words are marked %q", marks)
		}
	}},
	{"talk/words", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		h.Mention(Ben, card.Thread, "stop")
		h.sees("Ben is told that he may not", func() bool { return len(h.Whispers(Ben)) > 0 })
		h.Mention(Ann, card.Thread, "stop")
		h.until(run, "it is paused", func(r agent.Run) bool { return r.State() == agent.RunPaused })
		h.sees("the card offers to resume", func() bool { return named(h.find(card).Buttons, "Resume") })
		release()
		h.Mention(Ann, card.Thread, "resume")
		h.ends(run, agent.RunDone)
	}},
	{"talk/stop button", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		h.sees("there is a button to stop", func() bool { return h.Stop(Ann, card.Thread) == nil })
		h.until(run, "it is paused", func(r agent.Run) bool { return r.State() == agent.RunPaused })
		h.sees("the card offers to resume", func() bool { return named(h.find(card).Buttons, "Resume") })
		release()
		h.click(Ann, h.find(card), "Resume")
		h.ends(run, agent.RunDone)
	}},
	{"talk/cancel", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		h.Mention(Ann, card.Thread, "cancel")
		h.ends(run, agent.RunCancelled) // the model never answered
		release()
		h.sees("the card says so", func() bool { return strings.Contains(h.find(card).Text, "Cancelled") })
	}},
	{"talk/questions", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		for i, word := range []string{"status", "help"} {
			h.Double(1)
			h.Mention(Ann, card.Thread, word)
			h.sees("it is answered", func() bool { return h.answers(Ann) > i })
			h.sees("every event is acknowledged", func() bool { return h.Owed() == 0 })
			if n := h.answers(Ann); n != i+1 {
				h.Errorf("%d answers after %q, want %d\n%s", n, word, i+1, h.scene())
			}
		}
		release()
		h.ends(run, agent.RunDone)
		if n := h.answers(Ann); n != 2 {
			h.Errorf("%d answers in the end\n%s", n, h.scene())
		}
	}},
	{"talk/commands", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		for i, word := range []string{"runs", "help"} {
			h.does("Ann gives a command", func() error { return h.Slash(Ann, word) })
			h.sees("the command is answered", func() bool { return h.answers(Ann) > i })
		}
		release()
		h.ends(run, agent.RunDone)
		_ = card
	}},
	{"talk/follow up", harmless, nil, func(h *harness) {
		h.Mention(Ann, h.Channel(), "Get the harbour ready")
		card, run := h.card(1)
		h.ends(run, agent.RunDone)
		h.Mention(Ann, card.Thread, "And now the lighthouse")
		next, after := h.card(2)
		h.ends(after, agent.RunDone)
		if next.Thread != card.Thread || after == run {
			h.Errorf("the second card stands in %s, the first in %s; runs %s and %s", next.Thread, card.Thread, run, after)
		}
		if got := h.load(after).Brief.Goal; !strings.Contains(got, "And now the lighthouse") {
			h.Errorf("the second goal is %q", got)
		}
	}},
	{"talk/a file on the way", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		h.Mention(Ann, card.Thread, "look at this, too", File{"depth.csv", []byte("7\n")})
		h.until(run, "the file is there", func(r agent.Run) bool { return r.Shown["file/0"].Path != "" })
		release()
		h.ends(run, agent.RunDone)
		h.file("attachments/depth.csv", "7\n")
	}},
}

// busy starts a run as Ann does and holds its model in the first step. The run
// goes on when the returned function is called, and not before: call it when
// everything that is said meanwhile was seen to arrive.
func (h *harness) busy() (Post, agent.RunID, func()) {
	h.Helper()
	release := h.model.hold(llm.Work)
	h.Cleanup(release)
	h.Mention(Ann, h.Channel(), "Get the harbour ready")
	card, run := h.card(1)
	ctx, cancel := h.bounded()
	defer cancel()
	if err := h.model.await(ctx, llm.Work, 1); err != nil {
		h.Fatalf("the model was not asked to work: %v\n%s", err, h.scene())
	}
	return card, run, release
}

// answers are how often the person was answered, alone or before everybody.
func (h *harness) answers(w Who) int {
	return len(h.Whispers(w)) + len(h.kinds(agent.PostAnswer))
}
