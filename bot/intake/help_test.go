package intake

import (
	"context"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// Help begins with three sentences that can be said just there.
func TestHelpBeginsWithExamples(t *testing.T) {
	s := opened(t)
	for act, want := range map[bot.Act]string{
		bot.Commanded{Text: "help"}:               "“sum up what was decided here this week”",
		bot.Commanded{Text: "help", Direct: true}: "“compare these two files and tell me what changed”",
	} {
		in := s.event(bottest.Requester, act)
		in.Where = bottest.Channel
		text := answerOf(s.hears(in))
		head, _, _ := strings.Cut(text, "These words always count")
		if !strings.Contains(head, want) || strings.Count(head, "- “") != 3 || strings.Contains(head, "`") {
			t.Errorf("%+v: %s", act, text)
		}
	}
	if text := answerOf(s.hear(bottest.Requester, to("help"))); !strings.Contains(text, "“@Deckhand every weekday at 9:00: ") {
		t.Errorf("in a channel: %s", text)
	}
	s.live()
	if text := answerOf(s.hear(bottest.Requester, to("help"))); !strings.Contains(text, "“@Deckhand is it going well?”") {
		t.Errorf("in the thread of a run: %s", text)
	}
}

// Help shows the few words that matter; the rest stands behind a word of its own.
func TestHelpIsShort(t *testing.T) {
	s := opened(t)
	short := answerOf(s.hear(bottest.Requester, to("help")))
	if n := strings.Count(short, "\n- `"); n > 6 || strings.ContainsAny(short, "[|") || !strings.Contains(short, "`help all`") {
		t.Errorf("%d commands in help\n%s", n, short)
	}
	all := answerOf(s.hear(bottest.Requester, to("help all")))
	for _, c := range commands() {
		if c.usage != "" && !strings.Contains(all, "`"+c.usage+"`") {
			t.Errorf("help all lacks %s\n%s", c.word, all)
		}
	}
	one := answerOf(s.hear(bottest.Requester, bot.Commanded{Text: "help Schedule"}))
	if strings.Count(one, "\n- `") != 1 || !strings.Contains(one, "schedule WHEN: GOAL") || strings.Contains(one, "status") {
		t.Errorf("help schedule: %s", one)
	}
	if got := answerOf(s.hear(bottest.Requester, bot.Commanded{Text: "help me"})); !strings.Contains(got, "`help all` lists") {
		t.Errorf("an unknown topic: %s", got)
	}
	if a := s.hear(bottest.Requester, to("help me with the release notes")); a.Run == "" {
		t.Errorf("a goal that begins with help: %+v", a)
	}
}

// tells is a platform that says what its channels are for.
type tells struct {
	bottest.Stage
	asked bot.Address
}

func (p *tells) Describe(_ context.Context, at bot.Address) (name, about string, err error) {
	p.asked = at
	return "releases", "What ships when", nil
}

// Prompts are goals that fit the channel that the person looks at: what went well
// there, and what the channel is for; never what was private.
func TestPromptsFitTheChannel(t *testing.T) {
	platform := &tells{Stage: bottest.Stage{ID: "slack"}}
	s := opened(t, func(c *Config) { c.Platforms = []bot.Platform{platform} })
	for goal, direct := range map[string]bool{"Draft the release notes": false, "Look for a new job": true} {
		in := s.event(bottest.Requester, bot.Said{Text: goal, To: true, Direct: direct})
		in.Where = bottest.Channel.At("30." + goal[:1])
		in.Message = in.Where
		a := s.hears(in)
		s.Happen(t, a.Run, agent.Main, agent.PlanAccepted{Plan: agent.Plan{Tasks: []agent.Task{{ID: "a", Title: "a"}}}})
		s.Happen(t, a.Run, agent.Main, agent.Reported{Headline: "done"})
		s.Happen(t, a.Run, agent.Main, agent.RunEnded{State: agent.RunDone})
	}
	in := s.event(bottest.Requester, bot.Opened{Viewing: bottest.Channel})
	in.Where = bot.Address{Platform: "slack", Workspace: "T1", Channel: "DU1"}
	a := s.hears(in)
	if a.Prompts == nil {
		t.Fatalf("no prompts: %+v", a)
	}
	var all []string
	for _, p := range a.Prompts.List {
		all = append(all, p.Title+" = "+p.Text)
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"Again: Draft the release notes = Draft the release notes", "Sum up #releases = ", "Next for: What ships when = ", "What can you do? = help"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "job") || len(a.Prompts.List) > 4 || platform.asked.Place() != bottest.Channel.Place() {
		t.Errorf("prompts\n%s, of %s", got, platform.asked)
	}
}

// What was scheduled in exact words can be taken back by its button, too.
func TestUndo(t *testing.T) {
	s := scheduler(t)
	in := s.event(bottest.Requester, to("schedule tomorrow at 9:00: water the plants"))
	a := s.hears(in)
	if a.Public == nil || len(s.schedules()) != 1 {
		t.Fatalf("answer %+v", a)
	}
	buttons, is := a.Public.Parts[len(a.Public.Parts)-1].(bot.Buttons)
	if !is || len(buttons.List) != 2 {
		t.Fatalf("buttons %+v", a.Public.Parts)
	}
	if got := answerOf(s.hear(bottest.Stranger, bot.Pressed{Button: buttons.List[0]})); !strings.Contains(got, "Only its owner") || len(s.schedules()) != 1 {
		t.Errorf("a stranger is told %s", got)
	}
	undone := s.hear(bottest.Requester, bot.Pressed{Button: buttons.List[0]})
	if undone.Instead == nil || !strings.Contains(bottest.Drawn(*undone.Instead), "Undone by @slack:U1") || len(s.schedules()) != 0 {
		t.Errorf("answer %+v", undone)
	}
	if got := answerOf(s.hear(bottest.Requester, bot.Pressed{Button: buttons.List[0]})); !strings.Contains(got, "There is no such schedule here") {
		t.Errorf("a second time: %s", got)
	}
}
