package packs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
)

// Goals of a business run to their ends on the packs that come with Deckhand.
func TestGoals(t *testing.T) {
	s := open(t)
	t.Run("customer service", s.customerService)
	t.Run("denied", s.denied)
	t.Run("business", s.business)
	t.Run("audit", s.audit)
	t.Run("research", s.research)
	t.Run("synthesis", s.synthesis)
}

var refund = step{"business__refund_order", with("order", "O-1007", "amount", 60, "reason", "a broken wheel")}

// A ticket is answered by the rules of the house: the refund and the reply ask first.
func (s *stage) customerService(t *testing.T) {
	g := &goal{name: "service", steps: []step{
		{"business__list_tickets", with("status", "open")},
		{"business__show_ticket", with("ticket", "T-1")},
		{"business__show_order", with("order", "O-1007")},
		{"business__search_articles", with("query", "refund of a damaged item")},
		{"business__refund_order", with("order", "O-1007", "amount", 6000, "reason", "a broken wheel")},
		refund,
		{"business__reply_ticket", with("ticket", "T-1", "text", "We paid 60 EUR back. Keep the chair.")},
		{"query_data", with("dataset", "business", "sql", "SELECT r.amount, t.status FROM refunds r JOIN tickets t ON t.order_id = r.order_id")},
	}, report: last}
	r := s.work(g)
	if r.Ended.State != agent.RunDone {
		t.Errorf("the run is %s: %q", r.Ended.State, g.seen)
	}
	holds(t, "the report", r.Report.Body, `{"amount":60,"status":"closed"}`)
	holds(t, "the refused refund", strings.Join(g.seen, "\n"), "6000 is more than what is left of the order O-1007")
	if len(g.asked) != 2 {
		t.Fatalf("asked was %q", g.asked)
	}
	holds(t, "the question", g.asked[0], "Pays **60** back for the order O-1007", `"total":329`, "Farid Haddad")
	holds(t, "the question", g.asked[1], "Replies to T-1", "Keep the chair.")
}

// A refund that a person denies never happens.
func (s *stage) denied(t *testing.T) {
	g := &goal{name: "denied", steps: []step{refund, {"business__list_refunds", with()}}, report: last,
		answer: func(agent.Checkpoint) string { return "deny" }}
	s.work(g)
	holds(t, "after the denial", last(g.seen), "nothing was paid back")
}

// The planted difference between ledger and bank statement is found by the tools.
func (s *stage) business(t *testing.T) {
	g := &goal{name: "business", steps: []step{
		{"business__balances", with()},
		{"business__reconcile", with()},
		{"chart_data", with("dataset", "business", "kind", "bar", "title", "March by week", "path", "march.png",
			"sql", "SELECT strftime('%W', day) AS week, sum(amount) AS total FROM ledger GROUP BY week")},
	}, report: func(seen []string) string { return "The books differ:\n" + seen[1] }}
	r := s.work(g)
	holds(t, "the report", r.Report.Body, `"reference":"I-7812"`, `"ledger_amount":-1875`, `"bank_amount":-1785`, `"difference":-90`)
	if n := strings.Count(r.Report.Body, `"reference"`); n != 1 {
		t.Errorf("%d differences are told", n)
	}
	if _, err := os.Stat(filepath.Join(s.dir, g.name, "march.png")); err != nil {
		t.Error(err)
	}
}

// Two exports are joined, and what was paid twice is listed: a dataset that one call
// made is queried by a later one.
func (s *stage) audit(t *testing.T) {
	g := &goal{name: "audit", files: map[string]string{
		"orders.csv":   "number,supplier,total\nPO-1,Nordic Wood,3120.50\nPO-2,Lumina,864.00\nPO-3,Parcel service,298.60\n",
		"payments.csv": "id;order;paid\n1;PO-1;3120.50\n2;PO-2;864.00\n3;PO-2;864.00\n4;PO-3;298.60\n",
	}, steps: []step{
		{"import_data", with("dataset", "audit", "table", "orders", "path", "orders.csv")},
		{"import_data", with("dataset", "audit", "table", "payments", "path", "payments.csv")},
		{"query_data", with("dataset", "audit", "sql",
			"SELECT o.number, o.supplier, o.total, sum(p.paid) AS paid FROM orders o JOIN payments p ON p.\"order\" = o.number GROUP BY o.number HAVING round(sum(p.paid) - o.total, 2) <> 0")},
		{"write_to_file", func(seen []string) map[string]any {
			return map[string]any{"path": "audit.md", "text": "# Paid twice\n\n" + found(last(seen))}
		}},
	}, report: func(seen []string) string { return found(seen[2]) }}
	r := s.work(g)
	holds(t, "the report", r.Report.Body, `{"number":"PO-2","supplier":"Lumina","total":864,"paid":1728}`)
	if strings.Contains(r.Report.Body, "PO-1") {
		t.Error("what is right is told as wrong")
	}
}

// found are the JSON lines of a result.
func found(result string) string {
	return strings.Join(regexp.MustCompile(`(?m)^\{.*\}$`).FindAllString(result, -1), "\n")
}

var sentence = regexp.MustCompile(`The mean yield of 214 groups was 74 %|the yield was 88 % after one recrystallization`)

// Quotes of a brief stand in their sources: they are taken from what was read, and
// checked before they are written.
func (s *stage) research(t *testing.T) {
	quotes := func(seen []string) []any {
		return []any{
			map[string]any{"paper": "P-3", "quote": sentence.FindString(seen[1])},
			map[string]any{"paper": "P-4", "quote": "The yield was 88 % after one recrystallization"},
		}
	}
	g := &goal{name: "research", steps: []step{
		{"chemistry__search_literature", with("query", "yield of aspirin and paracetamol")},
		{"chemistry__read_paper", with("paper", "P-3")},
		{"chemistry__read_paper", with("paper", "P-4")},
		{"chemistry__check_quotes", with("quotes", []any{map[string]any{"paper": "P-3", "quote": "The mean yield was 99 percent"}})},
		{"chemistry__check_quotes", func(seen []string) map[string]any { return map[string]any{"quotes": quotes(seen)} }},
		{"write_to_file", func(seen []string) map[string]any {
			var text strings.Builder
			text.WriteString("# Yields\n")
			for _, q := range quotes(seen) {
				m, _ := q.(map[string]any)
				fmt.Fprintf(&text, "\n> %s [%s]\n", m["quote"], m["paper"])
			}
			return map[string]any{"path": "brief.md", "text": text.String()}
		}},
	}, report: last}
	r := s.work(g)
	if r.Ended.State != agent.RunDone {
		t.Fatalf("the run is %s: %q", r.Ended.State, g.seen)
	}
	holds(t, "the made-up quote", g.seen[3], `"all_found":false`)
	holds(t, "the check", g.seen[4], `"all_found":true`)
	brief, err := os.ReadFile(filepath.Join(s.dir, g.name, "brief.md"))
	if err != nil {
		t.Fatal(err)
	}
	cited := regexp.MustCompile(`(?m)^> (.+) \[(P-\d)\]$`).FindAllStringSubmatch(string(brief), -1)
	if len(cited) != 2 {
		t.Fatalf("the brief cites %q", cited)
	}
	for i, c := range cited {
		if !strings.Contains(strings.ToLower(g.seen[1+i]), strings.ToLower(c[1])) {
			t.Errorf("%q does not stand in %s", c[1], c[2])
		}
	}
}

// A synthesis is an ordered procedure that names where its steps come from; what is
// dangerous about it is looked up.
func (s *stage) synthesis(t *testing.T) {
	g := &goal{name: "synthesis", steps: []step{
		{"chemistry__find_compound", with("query", "aspirin")},
		{"chemistry__molecular_weight", with("formula", "C9H8O4")},
		{"chemistry__safety_data", with("compound", "acetic anhydride")},
		{"chemistry__find_procedure", with("product", "acetylsalicylic acid")},
	}, report: func(seen []string) string { return strings.Join(seen, "\n") }}
	r := s.work(g)
	holds(t, "the report", r.Report.Body, "180.159", "H330 Fatal if inhaled", `"step":1`, `"source":"P-3"`)
	if first, sixth := strings.Index(r.Report.Body, `"step":1`), strings.Index(r.Report.Body, `"step":6`); first < 0 || sixth < first {
		t.Error("the steps are in no order")
	}
}
