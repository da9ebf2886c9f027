package chat

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// clearing is a model that deletes two files, each a question of its own.
func clearing() *scriptedModel {
	return &scriptedModel{parts: []taskScript{work("a", once(remove("old-1.md")), once(remove("old-2.md")))}}
}

// decisions are about what the model wants to do.
var decisions = []scenario{
	{"approval/approve", nil, nil, func(h *harness) {
		run, ask := h.begin()
		for _, want := range []string{"Approve", "Deny", "Edit"} {
			if !named(ask.Buttons, want) {
				h.Errorf("there is no %q among %q", want, ask.Buttons)
			}
		}
		if !strings.Contains(ask.Text, "berth.md") || strings.Contains(ask.Text, `{"`) {
			h.Errorf("the arguments are not readable: %s", ask.Text)
		}
		h.absent("berth.md")
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.file("berth.md", "ready\n")
		h.closed(ask, "Approve")
	}},
	{"approval/deny with a reason", nil, nil, func(h *harness) {
		run, ask := h.begin()
		h.form(Ann, ask, "Deny", first("the berth is taken"))
		h.ends(run, agent.RunDone)
		h.absent("berth.md")
		asked := h.model.requests(llm.Work)
		if got := read(asked[len(asked)-1]); !strings.Contains(got, "denied by") || !strings.Contains(got, "the berth is taken") {
			h.Errorf("the model was not told that and why it was denied:\n%s", got)
		}
		h.closed(ask, "Denied")
	}},
	{"approval/edit", nil, nil, func(h *harness) {
		run, ask := h.begin()
		h.form(Ann, ask, "Edit", edited)
		again := h.asked(2)
		h.absent("berth.md")
		h.click(Ann, again, "Approve")
		h.ends(run, agent.RunDone)
		h.file("berth.md", "ready, and painted\n")
	}},
	{"approval/always", clearing, nil, func(h *harness) {
		putOldFiles(h)
		run, ask := h.begin()
		h.click(Ann, ask, "Always in this run")
		h.ends(run, agent.RunDone)
		h.absent("old-1.md")
		h.absent("old-2.md")
		if n := len(h.kinds(agent.PostCheckpoint)); n != 1 {
			h.Errorf("asked %d times after always", n)
		}
	}},
	{"approval/each", clearing, nil, func(h *harness) {
		putOldFiles(h)
		run, ask := h.begin()
		h.click(Ann, ask, "Approve")
		h.click(Ann, h.asked(2), "Approve")
		h.ends(run, agent.RunDone)
		h.absent("old-1.md")
		h.absent("old-2.md")
	}},
	{"approval/clicked twice", nil, nil, func(h *harness) {
		h.rules.Authority.Operators = nil
		run, ask := h.begin()
		h.click(Ann, ask, "Approve")
		_ = h.Click(Ann, ask.Message, "Approve") // the button may be gone by then
		_ = h.Click(Ann, ask.Message, "Deny")    // as before
		h.ends(run, agent.RunDone)
		h.file("berth.md", "ready\n")
		h.decided(run, 1)
	}},
	{"approval/cancelled meanwhile", nil, nil, func(h *harness) {
		run, ask := h.begin()
		h.Mention(Ann, ask.Thread, "cancel")
		h.ends(run, agent.RunCancelled)
		h.absent("berth.md")
		h.sees("the question is closed", func() bool { return len(h.find(ask).Buttons) == 0 })
	}},
}

// edited changes the text that is to be written: the last argument by name.
func edited(fields []string) map[string]string {
	return map[string]string{fields[len(fields)-1]: "ready, and painted\n"}
}

// putOldFiles puts files there that a model can delete.
func putOldFiles(h *harness) {
	h.Helper()
	dir := filepath.Join(h.workspace(), h.Channel().Folder())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.Fatal(err)
	}
	for _, name := range []string{"old-1.md", "old-2.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old\n"), 0o600); err != nil {
			h.Fatal(err)
		}
	}
}

// find is a post as it stands now.
func (h *harness) find(p Post) Post {
	for _, o := range h.Posts() {
		if o.Message == p.Message {
			return o
		}
	}
	return Post{}
}

// closed wants a decided question to say so and to have no buttons.
func (h *harness) closed(ask Post, word string) {
	h.Helper()
	h.sees("the question says what was decided", func() bool {
		now := h.find(ask)
		return len(now.Buttons) == 0 && strings.Contains(now.Text, word)
	})
}

// decided wants so many decisions in the journal.
func (h *harness) decided(run agent.RunID, n int) {
	h.Helper()
	h.journalled(run, "a decision", n, func(b agent.Body) bool {
		_, is := b.(agent.CheckpointDecided)
		return is
	})
}
