package policy

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// What is told by hints is what CEL tells.
func TestHintsChangeNothing(t *testing.T) {
	conditions := map[string]int{ // with how many hints they have
		`channel == "slack:T1:C1"`:                                                1,
		`"slack:T1:C1" == channel && spend > 3.0`:                                 1,
		`channel == "slack:T1:C2" && args.missing > 1`:                            1,
		`args.missing > 1 && channel == "slack:T1:C2"`:                            1,
		`channel == "slack:T1:C1" && args.missing > 1`:                            1,
		`person in ["slack:U1", "slack:U2"] && role == "member"`:                  2,
		`person in ["slack:U1", tool]`:                                            0,
		`channel == "slack:T1:C2" || args.amount > 100`:                           0,
		`!(channel == "slack:T1:C2")`:                                             0,
		`host == "a.example.com"`:                                                 1,
		`host.endsWith(".example.com") && weekday == "friday"`:                    2,
		`host.endsWith(".example.com") && !host.startsWith("b.")`:                 1,
		`path.startsWith("reports/") && path != ""`:                               1,
		`path == "REPORTS/a.md"`:                                                  1,
		`path == "reports/a.md" && class in ["write", "create"]`:                  2,
		`(role == "guest" && hour > 3) && (autonomy == "ask-risky")`:              2,
		`args.to.startsWith("a")`:                                                 0,
		`channel.startsWith("slack:T1:") && risk == "medium" && has(args.amount)`: 2,
		`"x" == "x" && role == "member"`:                                          1,
	}
	calls := []call{
		{},
		{act: agent.Act{Class: agent.ClassWrite, Changes: []string{"Reports/a.md", "other.md"}, Hosts: []string{"a.example.com", "b.example.com"},
			Arguments: json.RawMessage(`{"amount": 250, "to": "ada"}`), At: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}},
		{act: agent.Act{Class: agent.ClassSend, Hosts: []string{"b.example.com"}, Arguments: json.RawMessage(`{"path": "reports/a.md"}`)}},
	}
	runs := []agent.Run{
		{Brief: agent.RunStarted{Requester: "slack:U1", ReplyTo: "slack:T1:C1:1.1"}},
		{Brief: agent.RunStarted{Requester: "terminal", Role: "guest", Autonomy: agent.Suggest}},
	}
	for source, hints := range conditions {
		c, err := compile(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if len(c.hints) != hints {
			t.Errorf("%s: %d hints", source, len(c.hints))
		}
		plain := *c
		plain.hints = nil
		for i := range calls {
			for j := range runs {
				for _, effect := range []agent.Verdict{agent.Allow, agent.Ask, agent.Deny} {
					x, y := calls[i], calls[i]
					x.run, x.role, x.zone = &runs[j], RoleOf, "UTC"
					y.run, y.role, y.zone = &runs[j], RoleOf, "UTC"
					if got, want := c.holds(&x, effect), plain.holds(&y, effect); got != want {
						t.Errorf("%s, call %d of run %d, %s: %v, and CEL says %v", source, i, j, effect, got, want)
					}
				}
			}
		}
	}
}
