package chat

// This file holds the scenarios of how a run begins: by a mention, a direct
// message, a command or a form, with files, and with what a thread said
// before.

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// goals are about how a run begins.
var goals = []scenario{
	{"goal/mention", nil, nil, mentioned},
	{"goal/direct", harmless, nil, direct},
	{"goal/command", harmless, nil, func(h *harness) { commanded(h, "run Get the harbour ready", "") }},
	{"goal/form", harmless, nil, func(h *harness) { commanded(h, "run", "Get the harbour ready") }},
	{"goal/empty", nil, nil, empty},
	{"goal/long", harmless, nil, long},
	{"goal/in a thread", harmless, nil, threaded},
	{"goal/with a file", harmless, nil, attached},
	{"goal/answered", func() *scriptedModel { return &scriptedModel{answer: "High water is at six."} }, nil, answered},
	{"goal/twice", harmless, nil, twice},
	{"goal/pings", harmless, func(h *harness) {
		h.model.headline, h.model.body = "@here "+h.Loud(), "Look, "+h.Loud()+"!"
	}, quiet},
}

func mentioned(h *harness) {
	said := h.Mention(Ann, h.Channel(), "Get the harbour ready")
	h.sees("the goal is marked as seen", func() bool { return slices.Contains(h.Marks(said), "eyes") })
	card, run := h.card(1)
	if card.Key == "" || card.Thread.ID == "" || !strings.Contains(card.Text, "Get the harbour ready") {
		h.Errorf("the card: %+v", card)
	}
	if got := h.load(run).Brief; got.Goal != "Get the harbour ready" || got.Requester != h.Principal(Ann) {
		h.Errorf("the brief: %+v", got)
	}
	ask := h.asked(1)
	if ask.Thread != card.Thread || ask.Key == "" || !slices.Contains(ask.Pings, h.Principal(Ann)) {
		h.Errorf("the question: %+v", ask)
	}
	h.click(Ann, ask, "Approve")
	h.ends(run, agent.RunDone)
	report := h.kinds(agent.PostReport)
	if len(report) != 1 || report[0].Thread != card.Thread || report[0].Key == "" || !strings.Contains(report[0].Text, "The harbour is ready") {
		h.Errorf("the report: %+v", report)
	}
	h.sees("the card says how it ended", func() bool { return strings.Contains(h.kinds(agent.PostCard)[0].Text, "Done") })
	h.file("berth.md", "ready\n")
	h.whole()
	posts := slices.DeleteFunc(h.Posts(), func(p Post) bool { return p.Key == "" }) // a command's own answer has none
	if whispers := len(h.Whispers(Ann)); len(posts) != standardPosts || whispers > 0 {
		h.Errorf("a run of one question takes %d messages and %d to Ann alone, want %d and none\n%s", len(posts), whispers, standardPosts, h.scene())
	}
}

// standardPosts is how many messages the standard run takes: its card, its one
// question, its report.
const standardPosts = 3

func direct(h *harness) {
	h.Direct(Ann, "Get the harbour ready")
	card, run := h.card(1)
	h.ends(run, agent.RunDone)
	if !card.Private {
		h.Errorf("the card of a direct conversation stands elsewhere: %+v", card)
	}
}

// commanded gives a command, and the goal in a form where the command has none.
func commanded(h *harness, command, goal string) {
	h.Helper()
	give := func() error { return h.Slash(Ann, command) }
	var card Post
	var r agent.Run
	asked, runs := begunReadable(h, func(n int) {
		if goal != "" {
			h.opened(Ann, give, first(goal))
		} else {
			h.does("Ann gives a command", give)
		}
		var run agent.RunID
		card, run = h.card(n)
		r = h.ends(run, agent.RunDone)
	})
	if r.Brief.Goal != "Get the harbour ready" || r.Brief.Requester != h.Principal(Ann) {
		h.Errorf("the brief: %+v", r.Brief)
	}
	if strings.Contains(asked, unread) {
		h.Errorf("the model is told of a thread that is not there yet:\n%s", asked)
	}
	reports := h.kinds(agent.PostReport)
	if len(reports) != runs {
		h.Fatalf("%d runs have %d reports\n%s", runs, len(reports), h.scene())
	}
	report := reports[runs-1]
	if report.Thread.String() != r.Thread() || card.Private {
		h.Errorf("the run lives in %s; the report: %+v", r.Thread(), report)
	}
	h.Mention(Ann, report.Thread, "And now the lighthouse")
	next, after := h.card(runs + 1)
	h.ends(after, agent.RunDone)
	if next.Thread != report.Thread {
		h.Errorf("the follow-up's card stands in %s, want %s", next.Thread, report.Thread)
	}
}

// unread is what the model is told of a thread that could not be read.
const unread = "could not be read"

// begunReadable starts the n-th run, and again where the machine was too busy: a goal
// does not wait long for its thread to be read. It returns what the model was
// asked at last, and how many runs that took.
func begunReadable(h *harness, start func(n int)) (asked string, runs int) {
	h.Helper()
	const often = 5
	for runs = 1; ; runs++ {
		start(runs)
		list := h.model.requests(llm.Intake)
		asked = read(list[len(list)-1])
		if runs == often || !strings.Contains(asked, unread) {
			return asked, runs
		}
	}
}

func empty(h *harness) {
	h.Mention(Ann, h.Channel(), "  ")
	h.sees("Ann is told what to do", func() bool { return len(h.kinds(agent.PostAnswer))+len(h.Whispers(Ann)) > 0 })
	h.whole()
	if n := len(h.kinds(agent.PostAnswer)) + len(h.Whispers(Ann)); n != 1 || len(h.runs()) != 0 {
		h.Errorf("%d answers and %d runs; want one and none\n%s", n, len(h.runs()), h.scene())
	}
}

// long is a goal as long as a message can be.
func long(h *harness) {
	const start, each = "Count these: ", "berth é "
	goal := strings.TrimSpace(start + strings.Repeat(each, (h.Longest()-len(start))/utf8.RuneCountInString(each)))
	h.Mention(Ann, h.Channel(), goal)
	_, run := h.card(1)
	if got := h.load(run).Brief.Goal; got != goal {
		h.Errorf("the goal has %d characters, want %d; it ends %q", len(got), len(goal), got[max(0, len(got)-40):])
	}
	h.ends(run, agent.RunDone)
	if len(h.kinds(agent.PostReport)) != 1 {
		h.Errorf("there is no report\n%s", h.scene())
	}
}

// threaded is a goal under what others said before.
func threaded(h *harness) {
	asked, _ := begunReadable(h, func(n int) {
		top := h.Say(Ben, h.Channel(), "The crane at berth seven is stuck")
		h.Say(Cleo, top, "It has squeaked since Monday")
		h.Mention(Ann, top, "Please see to this")
		card, run := h.card(n)
		h.ends(run, agent.RunDone)
		if card.Thread != top {
			h.Errorf("the card stands in %s, the mention in %s", card.Thread, top)
		}
	})
	for _, want := range []string{"The crane at berth seven is stuck", "It has squeaked since Monday", "Please see to this"} {
		if !strings.Contains(asked, want) {
			h.Errorf("the model was not told %q:\n%s", want, asked)
		}
	}
}

func attached(h *harness) {
	h.Mention(Ann, h.Channel(), "Add these up", File{"tide.csv", []byte("high,06:12\n")})
	_, run := h.card(1)
	h.ends(run, agent.RunDone)
	if asked := read(h.model.requests(llm.Intake)[0]); !strings.Contains(asked, "tide.csv") {
		h.Errorf("the model was asked without the file:\n%s", asked)
	}
	h.file("attachments/tide.csv", "high,06:12\n")
}

// answered is a mention that needs no work: its card becomes the answer.
func answered(h *harness) {
	h.Mention(Ann, h.Channel(), "When is high water?")
	_, run := h.card(1)
	h.ends(run, agent.RunDone)
	h.sees("the card is the answer", func() bool { return strings.Contains(h.kinds(agent.PostCard)[0].Text, "High water is at six.") })
	if n := len(h.kinds(agent.PostReport)); n != 0 {
		h.Errorf("a mere answer has %d reports", n)
	}
}

func twice(h *harness) {
	h.Double(2)
	h.Unacknowledged(1)
	h.Mention(Ann, h.Channel(), "Get the harbour ready")
	_, run := h.card(1)
	h.ends(run, agent.RunDone)
	h.whole()
	if n := len(h.runs()); n != 1 {
		h.Errorf("one mention started %d runs", n)
	}
}

// quiet is text of people and models that would wake up everybody.
func quiet(h *harness) {
	h.Mention(Ann, h.Channel(), "Tell "+h.Loud())
	_, run := h.card(1)
	h.ends(run, agent.RunDone)
	for _, p := range h.Posts() {
		for _, who := range p.Pings {
			if who != h.Principal(Ann) {
				h.Errorf("%s notifies %s: %s", p.Key, who, p.Text)
			}
		}
	}
}
