package chat

import (
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// lengthy is a report that no message can hold.
var lengthy = strings.Repeat("The tide rises, and the tide falls.\n\n", 1800) + "The last line of the log."

// manageReports are about how a run ends.
var reports = []scenario{
	{"report/artifacts", func() *scriptedModel {
		m := harbour()
		m.artifacts = []string{"berth.md"}
		return m
	}, nil, func(h *harness) {
		run, ask := h.begin()
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		if got := filesOf(h.Posts(), "berth.md"); len(got) != 1 || string(got[0].Data) != "ready\n" {
			h.Errorf("in the thread are the files %+v\n%s", got, h.scene())
		}
	}},
	{"report/names its file", func() *scriptedModel {
		m := harbour()
		m.body = "All of it stands in berth.md."
		return m
	}, nil, func(h *harness) {
		run, ask := h.begin()
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		if got := filesOf(h.Posts(), "berth.md"); len(got) != 1 || string(got[0].Data) != "ready\n" {
			h.Errorf("in the thread are the files %+v\n%s", got, h.scene())
		}
	}},
	{"report/artifact that is not there", func() *scriptedModel {
		m := harmless()
		m.artifacts = []string{"missing.md"}
		return m
	}, nil, func(h *harness) {
		h.Mention(Ann, h.Channel(), "Get the harbour ready")
		_, run := h.card(1)
		h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
		h.sees("its end is told", func() bool { return len(h.kinds(agent.PostReport)) == 1 })
	}},
	{"report/long", func() *scriptedModel {
		m := harmless()
		m.body, m.skipped = lengthy, []string{"The lighthouse was locked"}
		return m
	}, func(h *harness) { h.timeout = 10 * time.Second }, func(h *harness) {
		h.Mention(Ann, h.Channel(), "Get the harbour ready")
		card, run := h.card(1)
		h.ends(run, agent.RunDone)
		report := h.kinds(agent.PostReport)
		if len(report) != 1 || !strings.Contains(report[0].Text, "The tide rises") {
			h.Fatalf("the report: %+v", report)
		}
		if got := report[0].Text; !strings.Contains(got, "Not done") || !strings.Contains(got, "The lighthouse was locked") {
			h.Errorf("what was not done is cut off: …%s", got[max(0, len(got)-600):])
		}
		h.sees("the whole of it is attached", func() bool {
			for _, p := range h.Posts() {
				for _, f := range p.Files {
					if p.Thread == card.Thread && strings.Contains(string(f.Data), "The last line of the log.") {
						return true
					}
				}
			}
			return false
		})
	}},
	{"report/good", harmless, nil, func(h *harness) {
		run, report := reportedRun(h)
		h.does("Ann rates", func() error { return h.Rate(Ann, report.Message, true) })
		rated(h, run, Ann, 1, "")
	}},
	{"report/bad", harmless, nil, func(h *harness) {
		run, report := reportedRun(h)
		h.opened(Ben, func() error { return h.Rate(Ben, report.Message, false) }, first("the total is wrong"))
		h.journalled(run, "a rating with its comment", 1, func(b agent.Body) bool {
			f, is := b.(agent.Feedback)
			return is && f.Rating == -1 && f.By == h.Principal(Ben) && f.Comment == "the total is wrong"
		})
	}},
}

// filesOf are the files of the name in posts.
func filesOf(posts []Post, name string) []File {
	var list []File
	for _, p := range posts {
		for _, f := range p.Files {
			if f.Name == name {
				list = append(list, f)
			}
		}
	}
	return list
}

// reportedRun is a run that ended with a report.
func reportedRun(h *harness) (agent.RunID, Post) {
	h.Helper()
	h.Mention(Ann, h.Channel(), "Get the harbour ready")
	_, run := h.card(1)
	h.ends(run, agent.RunDone)
	list := h.kinds(agent.PostReport)
	if len(list) != 1 {
		h.Fatalf("%d reports\n%s", len(list), h.scene())
	}
	return run, list[0]
}

func rated(h *harness, run agent.RunID, w Who, rating int, comment string) {
	h.Helper()
	h.journalled(run, "a rating", 1, func(b agent.Body) bool {
		f, is := b.(agent.Feedback)
		return is && f.Rating == rating && f.By == h.Principal(w) && f.Comment == comment
	})
}
