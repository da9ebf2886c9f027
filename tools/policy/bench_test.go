package policy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// rules200 is a policy of 200 rules of all kinds, none of which names its tool
// outright but the first fifty.
func rules200() string {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range 200 {
		when := fmt.Sprintf(`tool == "shop__refund_%d" && args.amount > %d`, i, i)
		switch {
		case i < 50:
		case i%5 == 0:
			when = fmt.Sprintf(`host == "h%d.example.com" && role == "guest"`, i)
		case i%5 == 1:
			when = fmt.Sprintf(`weekday == "friday" && hour >= 18 && path.startsWith("reports/%d/")`, i)
		case i%5 == 2:
			when = fmt.Sprintf(`channel == "slack:T1:C%d" && spend > 3.0`, i)
		case i%5 == 3:
			when = fmt.Sprintf(`has(args.amount) && args.amount > %d.0`, 100_000+i)
		default:
			when = fmt.Sprintf(`person in ["slack:U%d", "slack:V%d"] && taint.untrusted`, i, i)
		}
		fmt.Fprintf(&b, "  - {name: r%d, effect: deny, when: %q}\n", i, when)
	}
	return b.String()
}

// BenchmarkPermitOfAllKinds is one decision under 200 rules that all have to be looked at.
func BenchmarkPermitOfAllKinds(b *testing.B) {
	f, err := policy.Read("policy.yaml", []byte(rules200()))
	if err != nil {
		b.Fatal(err)
	}
	p := policy.New(policy.Options{Everywhere: f})
	r := &agent.Run{Brief: agent.RunStarted{Requester: "slack:U1", ReplyTo: "slack:T1:C1:17.1", Autonomy: agent.AskRisky}}
	a := agent.Act{Tool: agent.ToolSpec{Name: "shop__refund"}, Class: agent.ClassSend, At: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Arguments: json.RawMessage(`{"amount": 250, "to": "ada@corp.example", "note": "see https://shop.example.com/orders/17"}`)}
	fastest(b, func() {
		if word := p.Permit(r, a); word.Verdict != agent.Ask {
			b.Fatalf("%+v", word)
		}
	})
}

// fastest reports the fastest of many short stretches.
func fastest(b *testing.B, do func()) {
	b.Helper()
	best := math.MaxFloat64
	const stretch = 20
	for b.Loop() {
		began := time.Now()
		for range stretch {
			do()
		}
		best = min(best, float64(time.Since(began).Nanoseconds())/1000/stretch)
	}
	b.ReportMetric(best, "µs/decision")
}
