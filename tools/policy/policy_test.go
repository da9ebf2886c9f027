package policy_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// what is a permission in short: verdict, rule and grant.
type what struct {
	verdict     agent.Verdict
	rule, grant string
}

func TestPermit(t *testing.T) {
	specs := map[agent.Class]agent.ToolSpec{
		agent.ClassRead:    {Name: "read_file", Class: agent.ClassRead, Repeat: agent.RepeatRead},
		agent.ClassWrite:   {Name: "write_to_file", Class: agent.ClassWrite, Repeat: agent.RepeatProbeable},
		agent.ClassDelete:  {Name: "delete_file", Class: agent.ClassDelete, Repeat: agent.RepeatProbeable},
		agent.ClassSend:    {Name: "send_mail", Class: agent.ClassSend, Repeat: agent.RepeatOnce},
		agent.ClassCommand: {Name: "start_job", Class: agent.ClassCommand, Repeat: agent.RepeatProbeable},
		"strange":          {Name: "strange", Class: "strange"},
	}
	free := what{agent.Allow, "reads", ""}
	type table map[agent.Class]what
	for _, c := range []struct {
		name     string
		autonomy agent.Autonomy
		yes      []string
		grants   []string
		want     table
	}{
		{"suggest", agent.Suggest, nil, nil, table{agent.ClassRead: free, agent.ClassWrite: {agent.Deny, "autonomy.suggest", ""}, agent.ClassDelete: {agent.Deny, "autonomy.suggest", ""}, agent.ClassSend: {agent.Deny, "autonomy.suggest", ""}}},
		{"suggest stays suggest", agent.Suggest, []string{"all"}, []string{"writes", "tool:delete_file"}, table{agent.ClassRead: free, agent.ClassWrite: {agent.Deny, "autonomy.suggest", ""}, agent.ClassDelete: {agent.Deny, "autonomy.suggest", ""}}},
		{"ask each", agent.AskEach, nil, nil, table{agent.ClassRead: free, agent.ClassWrite: {agent.Ask, "autonomy.ask-each", ""}, agent.ClassDelete: {agent.Ask, "autonomy.ask-each", ""}, agent.ClassSend: {agent.Ask, "autonomy.ask-each", ""}}},
		{"ask risky", agent.AskRisky, nil, nil, table{agent.ClassRead: free, agent.ClassWrite: {agent.Ask, "autonomy.ask-risky", "writes"}, agent.ClassDelete: {agent.Ask, "autonomy.ask-risky", ""}, agent.ClassSend: {agent.Ask, "autonomy.ask-risky", ""}}},
		{"default", "", nil, nil, table{agent.ClassRead: free, agent.ClassWrite: {agent.Ask, "autonomy.ask-risky", "writes"}}},
		{"ask risky, granted", agent.AskRisky, nil, []string{"writes"}, table{agent.ClassWrite: {agent.Allow, "grant.writes", ""}, agent.ClassDelete: {agent.Ask, "autonomy.ask-risky", ""}, agent.ClassSend: {agent.Ask, "autonomy.ask-risky", ""}}},
		{"always this tool", agent.AskEach, nil, []string{"tool:delete_file"}, table{agent.ClassDelete: {agent.Allow, "grant.tool:delete_file", ""}, agent.ClassWrite: {agent.Ask, "autonomy.ask-each", ""}}},
		{"within budget", agent.WithinBudget, nil, nil, table{agent.ClassRead: free, agent.ClassWrite: {agent.Allow, "autonomy.within-budget", ""}, agent.ClassDelete: {agent.Ask, "autonomy.within-budget", ""}, agent.ClassSend: {agent.Ask, "autonomy.within-budget", ""}}},
		{"yes to reads", agent.AskRisky, []string{"plan", "reads"}, nil, table{agent.ClassRead: free, agent.ClassWrite: {agent.Ask, "autonomy.ask-risky", "writes"}}},
		{"yes to writes", agent.AskEach, []string{"writes"}, nil, table{agent.ClassWrite: {agent.Allow, "yes-to.writes", ""}, agent.ClassDelete: {agent.Ask, "autonomy.ask-each", ""}, agent.ClassSend: {agent.Ask, "autonomy.ask-each", ""}}},
		{"yes to deletes", agent.AskRisky, []string{"deletes"}, nil, table{agent.ClassWrite: {agent.Ask, "autonomy.ask-risky", "writes"}, agent.ClassDelete: {agent.Allow, "yes-to.deletes", ""}}},
		{"yes to all", agent.AskEach, []string{"all"}, nil, table{agent.ClassWrite: {agent.Allow, "yes-to.all", ""}, agent.ClassDelete: {agent.Allow, "yes-to.all", ""}, agent.ClassSend: {agent.Allow, "yes-to.all", ""}}},
		{"a command, suggest", agent.Suggest, []string{"all"}, nil, table{agent.ClassCommand: {agent.Deny, "autonomy.suggest", ""}}},
		{"a command, ask each", agent.AskEach, []string{"plan", "reads", "writes", "deletes"}, []string{"writes"}, table{agent.ClassCommand: {agent.Ask, "autonomy.ask-each", ""}}},
		{"a command is granted once", agent.AskRisky, nil, []string{"writes", "tool:start_job"}, table{agent.ClassCommand: {agent.Ask, "autonomy.ask-risky", ""}}},
		{"a command within budget", agent.WithinBudget, []string{"writes", "deletes"}, []string{"writes", "tool:start_job"}, table{agent.ClassCommand: {agent.Ask, "autonomy.within-budget", ""}}},
		{"a command and yes to all", agent.AskEach, []string{"all"}, nil, table{agent.ClassCommand: {agent.Allow, "yes-to.all", ""}}},
		{"unknown autonomy", "wild", nil, nil, table{agent.ClassRead: free, agent.ClassWrite: {agent.Deny, "unknown-autonomy", ""}}},
		{"unknown class", agent.WithinBudget, []string{"all"}, nil, table{"strange": {agent.Deny, "unknown-class", ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := agent.Run{Brief: agent.RunStarted{Autonomy: c.autonomy, YesTo: c.yes}, Questions: agent.Questions{Grants: c.grants}}
			for class, want := range c.want {
				p := policy.Default{}.Permit(&r, agent.Act{Tool: specs[class], Class: class})
				if got := (what{p.Verdict, p.Rule, p.Grant}); got != want {
					t.Errorf("%s: got %v, want %v", class, got, want)
				}
				if p.Version == "" {
					t.Error("the permission names no policy")
				}
				if (p.Verdict == agent.Deny) != (p.Reason != "") || (p.Verdict == agent.Ask) != (p.Risk != "") {
					t.Errorf("%s: a denial needs a reason and a question a risk: %+v", class, p)
				}
			}
		})
	}
}

// What other programs obey is asked for each time, whatever was approved; a
// picture is drawn without a question where nothing of anybody's is lost.
func TestPermitByPath(t *testing.T) {
	write := agent.ToolSpec{Name: "write_to_file", Class: agent.ClassWrite, Repeat: agent.RepeatProbeable}
	plot := agent.ToolSpec{Name: "plot", Class: agent.ClassRead, Repeat: agent.RepeatIdempotent}
	for _, c := range []struct {
		name     string
		autonomy agent.Autonomy
		yes      []string
		grants   []string
		act      agent.Act
		want     what
	}{
		{"an editor's settings", agent.WithinBudget, nil, nil, agent.Act{Tool: write, Class: agent.ClassWrite, Changes: []string{".vscode/tasks.json"}}, what{agent.Ask, "steers", ""}},
		{"CI, beside a grant", agent.AskRisky, nil, []string{"writes", "tool:write_to_file"}, agent.Act{Tool: write, Class: agent.ClassWrite, Changes: []string{"sub/.GitHub/workflows/ci.yml"}}, what{agent.Ask, "steers", ""}},
		{"what runs in a folder, beside --yes-to", agent.AskRisky, []string{"writes", "deletes"}, nil, agent.Act{Tool: write, Class: agent.ClassWrite, Changes: []string{".envrc"}}, what{agent.Ask, "steers", ""}},
		{"another form of its name", agent.WithinBudget, nil, nil, agent.Act{Tool: write, Class: agent.ClassWrite, Changes: []string{".en\u200dvrc"}}, what{agent.Ask, "steers", ""}},
		{"yes to all", agent.AskRisky, []string{"all"}, nil, agent.Act{Tool: write, Class: agent.ClassWrite, Changes: []string{".envrc"}}, what{agent.Allow, "yes-to.all", ""}},
		{"a name that only resembles", agent.WithinBudget, nil, nil, agent.Act{Tool: write, Class: agent.ClassWrite, Changes: []string{"docs/envrc.md"}}, what{agent.Allow, "autonomy.within-budget", ""}},
		{"a new picture", agent.AskEach, nil, nil, agent.Act{Tool: plot, Class: agent.ClassCreate, Changes: []string{"a.png"}}, what{agent.Allow, "creates", ""}},
		{"a new picture, suggest", agent.Suggest, nil, nil, agent.Act{Tool: plot, Class: agent.ClassCreate, Changes: []string{"a.png"}}, what{agent.Deny, "autonomy.suggest", ""}},
		{"somebody's picture, suggest", agent.Suggest, nil, nil, agent.Act{Tool: plot, Class: agent.ClassWrite, Changes: []string{"logo.png"}}, what{agent.Deny, "autonomy.suggest", ""}},
		{"somebody's picture", agent.AskRisky, nil, nil, agent.Act{Tool: plot, Class: agent.ClassWrite, Changes: []string{"logo.png"}}, what{agent.Ask, "autonomy.ask-risky", "writes"}},
		{"its own picture", agent.AskEach, nil, nil, agent.Act{Tool: plot, Class: agent.ClassWrite, Changes: []string{"own.png"}}, what{agent.Allow, "own-files", ""}},
		{"its own file, written", agent.AskEach, nil, nil, agent.Act{Tool: write, Class: agent.ClassWrite, Changes: []string{"own.png"}}, what{agent.Ask, "autonomy.ask-each", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := agent.Run{Brief: agent.RunStarted{Autonomy: c.autonomy, YesTo: c.yes}, Questions: agent.Questions{Grants: c.grants}, Touched: []string{"own.png"}}
			p := policy.Default{}.Permit(&r, c.act)
			if got := (what{p.Verdict, p.Rule, p.Grant}); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if p.Rule == "steers" && !p.Once {
				t.Error("one approval covers the next such file")
			}
		})
	}
}

// The approval of a plan covers just the files that it named, where an approval may
// cover more than one call.
func TestPermitByPlan(t *testing.T) {
	write := agent.ToolSpec{Name: "write_to_file", Class: agent.ClassWrite, Repeat: agent.RepeatProbeable}
	grants := []string{agent.GrantWrite("a.md"), agent.GrantWrite("b.md"), agent.GrantWrite(".envrc")}
	for _, c := range []struct {
		autonomy agent.Autonomy
		class    agent.Class
		changes  []string
		rule     string
	}{
		{agent.AskRisky, agent.ClassWrite, []string{"a.md"}, "grant.plan"},
		{agent.AskRisky, agent.ClassWrite, []string{"a.md", "b.md"}, "grant.plan"},
		{agent.AskRisky, agent.ClassWrite, []string{"a.md", "c.md"}, "autonomy.ask-risky"},
		{agent.AskRisky, agent.ClassWrite, []string{"notes/a.md"}, "autonomy.ask-risky"},
		{agent.AskRisky, agent.ClassWrite, nil, "autonomy.ask-risky"},
		{agent.AskRisky, agent.ClassDelete, []string{"a.md"}, "autonomy.ask-risky"},
		{agent.AskRisky, agent.ClassSend, []string{"a.md"}, "autonomy.ask-risky"},
		{agent.AskRisky, agent.ClassCommand, []string{"a.md"}, "autonomy.ask-risky"},
		{agent.AskRisky, agent.ClassWrite, []string{".envrc"}, "steers"},
		{agent.AskEach, agent.ClassWrite, []string{"a.md"}, "autonomy.ask-each"},
		{agent.Suggest, agent.ClassWrite, []string{"a.md"}, "autonomy.suggest"},
	} {
		r := agent.Run{Brief: agent.RunStarted{Autonomy: c.autonomy}, Questions: agent.Questions{Grants: grants}}
		if p := (policy.Default{}).Permit(&r, agent.Act{Tool: write, Class: c.class, Changes: c.changes}); p.Rule != c.rule {
			t.Errorf("%s %s %q: rule %s, want %s", c.autonomy, c.class, c.changes, p.Rule, c.rule)
		}
	}
}
