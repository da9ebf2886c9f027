package bot

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// Whoever writes a goal, a title or a reason cannot name a person in a card, nor
// notify anybody, nor hide a character.
func TestNothingIsForged(t *testing.T) {
	evil := "a\ue000slack:U9\ue001b \u202edcba @here <!channel> <@U9>"
	q := askApproval
	q.Title, q.Risk, q.Detail, q.Grant, q.Tool = evil, evil, evil, evil, evil
	q.Arguments = encoded(t, map[string]string{evil: evil})
	plan := agent.Plan{Name: evil, Description: evil, Assumptions: []string{evil}, DoneWhen: agent.Texts{evil},
		Tasks: []agent.Task{{ID: "a", Title: evil, Tools: []string{evil}, Acceptance: evil, Instructions: evil}}}
	r := told(agent.RunStarted{Goal: evil}, on(agent.Main, agent.PlanAccepted{Plan: plan}), starts("a"), asksFor("task/a", q),
		on("task/a", agent.Finding{Message: evil, Strand: "task/a"}))
	over := more(r, on(agent.Main, agent.Reported{Headline: evil, Body: evil, Artifacts: agent.Texts{evil}, Skipped: agent.Texts{evil}, FollowUps: agent.Texts{evil}}),
		on(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: evil}))
	several := agent.CheckpointOpened{Ask: agent.CheckClarify, Title: evil, Questions: []agent.Question{{ID: "q", Question: evil, Why: evil, Choices: []string{evil}}, {ID: "p", Question: evil}}}
	proposed := agent.CheckpointOpened{Ask: agent.CheckPlan, Title: evil, Plan: &plan, Choices: []string{agent.DecideApprove}}
	check := func(c agent.CheckpointOpened) Card {
		r := told(agent.RunStarted{Goal: evil}, asksFor(agent.Main, c))
		return CheckCard(r, theCheck(r), taleBegin, taleApprovers.Audience)
	}
	for name, c := range map[string]Card{
		"live": LiveCard(r, taleBegin), "ended": LiveCard(over, taleBegin), "report": ReportCard(over),
		"approval": CheckCard(r, theCheck(r), taleBegin, taleApprovers.Audience), "closed": ClosedCard(over, theCheck(over)),
		"clarify": check(several), "plan": check(proposed), "plan shown": PlanCard(r), "permissions": PermissionsCard(r, taleApprovers.Audience),
		"runs": RunsCard([]Status{StatusOf(r)}, taleBegin),
	} {
		t.Run(name, func(t *testing.T) {
			text := c.Text + drawn(c)
			Unmention(c.Text+Markdown(c), func(p string) string {
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
	r := told(agent.RunStarted{Requester: "slack:U1"}, on(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: "slack:U12"}))
	got := named(people(r, "cancelled by slack:U12, asked by slack:U1"))
	if want := "cancelled by @slack:U12, asked by @slack:U1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r = told(agent.RunStarted{Requester: "slack:U1"}, on(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: agent.DecideExpired}))
	if got := people(r, "cancelled by expired"); got != "nobody approved the plan in time" {
		t.Errorf("%q of a plan that nobody approved", got)
	}
	r = r.Apply(agent.Event{Run: r.ID, Strand: agent.Main, Seq: r.Seq + 1, Body: agent.Reported{Headline: "0 of 0 tasks done"}})
	r = r.Apply(agent.Event{Run: r.ID, Strand: agent.Main, Seq: r.Seq + 1, Body: agent.RunEnded{State: agent.RunCancelled, Reason: "cancelled by expired"}})
	if got, want := ReportCard(r).Text, "Cancelled: "+inLine(r.Brief.Goal, 140); r.Brief.Goal == "" || got != want {
		t.Errorf("%q is the headline of a run without a plan, want %q", got, want)
	}
}

func TestUnmention(t *testing.T) {
	for in, want := range map[string]string{
		"no one": "no one", Mention("slack:U1") + " and " + Mention("discord:2"): "@slack:U1 and @discord:2",
		"open \ue000 end": "open  end", Mention(Terminal): "somebody at the terminal", Mention(agent.Deckhand): "Deckhand", Mention(""): "somebody",
	} {
		if got := named(in); got != want {
			t.Errorf("%q reads %q, want %q", in, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 350 * time.Millisecond: "350ms", time.Second: "1s", 80 * time.Second: "1m 20s", 2 * time.Hour: "2h",
		2*time.Hour + 5*time.Second: "2h", 26 * time.Hour: "1d 2h", 59*time.Minute + 59*time.Second + 600*time.Millisecond: "1h",
	} {
		if got := lasting(d); got != want {
			t.Errorf("%s lasts %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "under 1m", 90 * time.Second: "1m", 3*time.Hour + 90*time.Second: "3h 1m"} {
		if got := inMinutes(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ name, got, want string }{
		{"a cut", inLine("one two three", 8), "one two…"},
		{"a fit", inLine(" one\n two ", 7), "one two"},
		{"plain", plain("**Not** a\\*b\\\\c" + nextLine + "d"), "Not a*b\\c. d"},
		{"emoji in prose", safe("👩\u200d🚀"), "👩\u200d🚀"},
		{"emoji in arguments", exact("👩\u200d🚀"), "👩⟨U+200D⟩🚀"},
		{"bytes", exact("a\xff"), "a⟨FF⟩"},
		{"thousands", inThousands(-1234567), "-1,234,567"},
		{"one", countOf(1, "task"), "1 task"},
		{"unknown", money(nil), "cost unknown"},
		{"cents", dollars(24_690_005), "$0.02"},
		{"a full cent", dollars(995_000_000), "$1.00"},
		{"less than a cent", dollars(9_999_999), "under $0.01"},
		{"no money", dollars(0), "$0.00"},
		{"thousands of dollars", dollars(1234 * agent.Dollar), "$1,234.00"},
		{"a fence", fenced("```"), "````\n```\n````"},
		{"an hour left", untilThen(now.Add(time.Hour), now), "expires 2 Mar 13:00 UTC (in 1h)"},
		{"over", untilThen(now, now), "expires now"},
		{"never", untilThen(time.Time{}, now), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
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
	parts := arguments(theCheck(told(agent.RunStarted{}, asksFor(agent.Main, agent.CheckpointOpened{Arguments: raw}))), 10)
	if last, is := parts[len(parts)-1].(Small); !is || !strings.HasPrefix(last.Markdown, "10 more values not shown") {
		t.Errorf("of 30 values: %v", parts)
	}
}

func TestReadChoice(t *testing.T) {
	one := theCheck(told(agent.RunStarted{}, asksFor(agent.Main, askOne)))
	manyAsked := theCheck(told(agent.RunStarted{}, asksFor(agent.Main, askMany)))
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
	ops := Authority{Operators: []string{"U7", "discord:8"}}
	both := Authority{Operators: []string{"slack:U7"}, Approvers: []string{"U5", "slack:U1"}}
	free := both
	free.RequesterMayApprove = true
	for _, tt := range []struct {
		name      string
		authority Authority
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
		{"nobody", Authority{}, nil, agent.CheckApproval, ""},
	} {
		r := told(agent.RunStarted{Approvers: tt.approvers})
		if diff := cmp.Diff(tt.want, strings.Join(tt.authority.Audience(r, tt.ask), " ")); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := Markdown(Card{Parts: []Part{Heading{"A *b*"}, Facts{[]Fact{{"n", "v_1"}}}, Code{"x"}, Small{"s"}, Prose{"**p**"}, Buttons{[]Button{{Label: "Pause"}}},
		Tasks{Title: "T", Items: []TaskItem{{Title: "one", State: agent.TaskDone, Note: "ok"}, {Title: "two", State: agent.TaskPending}}}}})
	want := "**A \\*b\\***\n\n**n**: v\\_1\n\n```\nx\n```\n\ns\n\n**p**\n\n**T**\n- ✓ one – ok\n- ○ two"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A finding that counts up is shown as it stands now, not once a count.
func TestGrowingFindings(t *testing.T) {
	found := func(rule string, strand agent.StrandID, message string) agent.Event {
		return on(strand, agent.Finding{Rule: rule, Severity: "nudge", Strand: strand, Message: message})
	}
	r := more(atWork(agent.RunStarted{}), found("L1", "task/count", "31 calls"), found("L1", "task/prices", "30 calls"),
		found("L1", "task/count", "51 calls"), found("L2", "task/count", "a cycle"), found("L1", "task/count", "57 calls"))
	want := []string{"Found: 30 calls", "Found: a cycle", "Found: 57 calls"}
	if diff := cmp.Diff(want, findings(r)); diff != "" {
		t.Error(diff)
	}
}
