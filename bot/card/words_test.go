package card

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Whoever writes a goal, a title or a reason cannot name a person in a card, nor
// notify anybody, nor hide a character.
func TestNothingIsForged(t *testing.T) {
	evil := "a\ue000slack:U9\ue001b \u202edcba @here <!channel> <@U9>"
	q := bottest.AskApproval
	q.Title, q.Risk, q.Detail, q.Grant, q.Tool = evil, evil, evil, evil, evil
	q.Arguments = encoded(t, map[string]string{evil: evil})
	plan := agent.Plan{Name: evil, Description: evil, Assumptions: []string{evil}, DoneWhen: agent.Texts{evil},
		Tasks: []agent.Task{{ID: "a", Title: evil, Tools: []string{evil}, Acceptance: evil, Instructions: evil}}}
	r := bottest.Told(agent.RunStarted{Goal: evil}, bottest.On(agent.Main, agent.PlanAccepted{Plan: plan}), bottest.Starts("a"), bottest.AsksFor("task/a", q),
		bottest.On("task/a", agent.Finding{Message: evil, Strand: "task/a"}))
	over := bottest.More(r, bottest.On(agent.Main, agent.Reported{Headline: evil, Body: evil, Artifacts: agent.Texts{evil}, Skipped: agent.Texts{evil}, FollowUps: agent.Texts{evil}}),
		bottest.On(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: evil}))
	several := agent.CheckpointOpened{Ask: agent.CheckClarify, Title: evil, Questions: []agent.Question{{ID: "q", Question: evil, Why: evil, Choices: []string{evil}}, {ID: "p", Question: evil}}}
	proposed := agent.CheckpointOpened{Ask: agent.CheckPlan, Title: evil, Plan: &plan, Choices: []string{agent.DecideApprove}}
	check := func(c agent.CheckpointOpened) bot.Card {
		r := bottest.Told(agent.RunStarted{Goal: evil}, bottest.AsksFor(agent.Main, c))
		return Question(r, bottest.TheCheck(r), bottest.TaleBegin, taleApprovers.Audience)
	}
	for name, c := range map[string]bot.Card{
		"live": Live(r, bottest.TaleBegin), "ended": Live(over, bottest.TaleBegin), "report": Report(over),
		"approval": Question(r, bottest.TheCheck(r), bottest.TaleBegin, taleApprovers.Audience), "closed": Closed(over, bottest.TheCheck(over)),
		"clarify": check(several), "plan": check(proposed), "plan shown": Plan(r), "permissions": Permissions(r, nil, taleApprovers.Audience),
		"runs": Runs([]Status{StatusOf(r)}, bottest.TaleBegin),
	} {
		t.Run(name, func(t *testing.T) {
			text := c.Text + bottest.Drawn(c)
			bot.Unmention(c.Text+bot.Markdown(c), func(p string) string {
				if p == "slack:U9" {
					t.Error("it names a person who is not in it")
				}
				return p
			})
			if strings.ContainsRune(text, '\u202e') {
				t.Error("it turns text around")
			}
			for _, who := range c.Mentions {
				if who == "slack:U9" {
					t.Error("it notifies somebody who is not asked")
				}
			}
		})
	}
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The engine's own words about people become names.
func TestPeopleInReasons(t *testing.T) {
	r := bottest.Told(agent.RunStarted{Requester: "slack:U1"}, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: "slack:U12"}))
	got := bottest.Named(People(r, "cancelled by slack:U12, asked by slack:U1"))
	if want := "cancelled by @slack:U12, asked by @slack:U1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r = bottest.Told(agent.RunStarted{Requester: "slack:U1"}, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: agent.DecideExpired}))
	if got := People(r, "cancelled by expired"); got != "nobody approved the plan in time" {
		t.Errorf("%q of a plan that nobody approved", got)
	}
	r = r.Apply(agent.Event{Run: r.ID, Strand: agent.Main, Seq: r.Seq + 1, Body: agent.Reported{Headline: "0 of 0 tasks done"}})
	r = r.Apply(agent.Event{Run: r.ID, Strand: agent.Main, Seq: r.Seq + 1, Body: agent.RunEnded{State: agent.RunCancelled, Reason: "cancelled by expired"}})
	if got, want := Report(r).Text, "Cancelled: "+text.InLine(r.Brief.Goal, 140); r.Brief.Goal == "" || got != want {
		t.Errorf("%q is the headline of a run without a plan, want %q", got, want)
	}
}

func TestUnmention(t *testing.T) {
	for in, want := range map[string]string{
		"no one": "no one", bot.Mention("slack:U1") + " and " + bot.Mention("discord:2"): "@slack:U1 and @discord:2",
		"open \ue000 end": "open  end", bot.Mention(bot.Terminal): "somebody at the terminal", bot.Mention(agent.Deckhand): "Deckhand", bot.Mention(""): "somebody",
	} {
		if got := bottest.Named(in); got != want {
			t.Errorf("%q reads %q, want %q", in, got, want)
		}
	}
}

func TestArgumentsInWords(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"x","b":{"c":[1,2],"d":null},"e":[{"f":true},{"f":false}],"g":["a, b","c"],"h":{},"i":[]}`: "a=x|b.c=1, 2|b.d=none|e[1].f=yes|e[2].f=no|g[1]=a, b|g[2]=c|h=|i=",
		`not json`: "arguments=not json",
		``:         "",
	} {
		var got []string
		for _, v := range namedValues(json.RawMessage(in)) {
			got = append(got, v.name+"="+v.value)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s reads %q, want %q", in, got, want)
		}
	}
	many := map[string]int{}
	for i := range 30 {
		many[strings.Repeat("n", i+1)] = i
	}
	raw := encoded(t, many)
	parts := arguments(bottest.TheCheck(bottest.Told(agent.RunStarted{}, bottest.AsksFor(agent.Main, agent.CheckpointOpened{Arguments: raw}))), 10)
	if last, is := parts[len(parts)-2].(bot.Small); !is || !strings.HasPrefix(last.Markdown, "10 more values not shown") {
		t.Errorf("of 30 values: %v", parts)
	}
}

func TestReadChoice(t *testing.T) {
	one := bottest.TheCheck(bottest.Told(agent.RunStarted{}, bottest.AsksFor(agent.Main, bottest.AskOne)))
	manyAsked := bottest.TheCheck(bottest.Told(agent.RunStarted{}, bottest.AsksFor(agent.Main, bottest.AskMany)))
	for _, tt := range []struct {
		check      agent.Checkpoint
		word, want string
	}{
		{one, "2", "q1 Blue"}, {one, "q1=1", "q1 Red"}, {one, "4", ""}, {one, "0", ""}, {one, "other", ""}, {one, "q2=1", ""},
		{manyAsked, "size=2", "size SVG"}, {manyAsked, "1", ""}, {manyAsked, "q2=1", ""}, {manyAsked, "=1", ""},
	} {
		q, a, is := ReadChoice(tt.check, tt.word)
		if got := strings.TrimSpace(q + " " + a); got != tt.want || is != (tt.want != "") {
			t.Errorf("%q means %q (%v), want %q", tt.word, got, is, tt.want)
		}
	}
	for _, c := range []agent.Checkpoint{one, manyAsked} { // what the buttons say is what is read
		for _, q := range c.Questions {
			for i, b := range choices(c, q) {
				if id, text, is := ReadChoice(c, b.Word); !is || id != q.ID || text != q.Choices[i] {
					t.Errorf("the button %q means %s %q", b.Word, id, text)
				}
			}
		}
	}
}

func TestAudience(t *testing.T) {
	ops := authority.Authority{Operators: []string{"U7", "discord:8"}}
	both := authority.Authority{Operators: []string{"slack:U7"}, Approvers: []string{"U5", "slack:U1"}}
	free := both
	free.RequesterMayApprove = true
	for _, tt := range []struct {
		name      string
		authority authority.Authority
		approvers []string // of the run
		ask       agent.CheckpointKind
		want      string
	}{
		{"asking back", ops, nil, agent.CheckClarify, "slack:U1"},
		{"stuck", ops, nil, agent.CheckStuck, "slack:U1 slack:U7"},
		{"money", ops, nil, agent.CheckBudget, "slack:U1 slack:U7"},
		{"money, with approvers", both, nil, agent.CheckBudget, "slack:U5 slack:U1 slack:U7"},
		{"an approval, four eyes", both, nil, agent.CheckApproval, "slack:U5"},
		{"an approval", free, nil, agent.CheckApproval, "slack:U5 slack:U1"},
		{"approvers of the run", free, []string{"slack:U6"}, agent.CheckPlan, "slack:U6"},
		{"operators, four eyes", ops, nil, agent.CheckUncertain, "slack:U7"},
		{"nobody", authority.Authority{}, nil, agent.CheckApproval, ""},
	} {
		r := bottest.Told(agent.RunStarted{Approvers: tt.approvers})
		if diff := cmp.Diff(tt.want, strings.Join(tt.authority.Audience(r, tt.ask), " ")); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := bot.Markdown(bot.Card{Parts: []bot.Part{bot.Heading{Text: "A *b*"}, bot.Facts{List: []bot.Fact{{Name: "n", Value: "v_1"}}}, bot.Code{Text: "x"}, bot.Small{Markdown: "s"}, bot.Prose{Markdown: "**p**"}, bot.Buttons{List: []bot.Button{{Label: "Pause"}}},
		bot.Tasks{Title: "T", Items: []bot.TaskItem{{Title: "one", State: agent.TaskDone, Note: "ok"}, {Title: "two", State: agent.TaskPending}}}}})
	want := "**A \\*b\\***\n\n**n**: v\\_1\n\n```\nx\n```\n\ns\n\n**p**\n\n**T**\n- ✓ one – ok\n- ○ two"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A finding that counts up is shown as it stands now, not once a count.
func TestGrowingFindings(t *testing.T) {
	found := func(rule string, strand agent.StrandID, message string) agent.Event {
		return bottest.On(strand, agent.Finding{Rule: rule, Severity: "nudge", Strand: strand, Message: message})
	}
	r := bottest.More(bottest.AtWork(agent.RunStarted{}), found("L1", "task/count", "31 calls"), found("L1", "task/prices", "30 calls"),
		found("L1", "task/count", "51 calls"), found("L2", "task/count", "a cycle"), found("L1", "task/count", "57 calls"))
	want := []string{"Noticed: 30 calls", "Noticed: a cycle", "Noticed: 57 calls"}
	if diff := cmp.Diff(want, findings(r)); diff != "" {
		t.Error(diff)
	}
}
