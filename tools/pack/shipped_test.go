package pack_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/tools/data"
	"github.com/deckhand-bot/deckhand/tools/pack"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// The packs that come with the program are whole: no fault, every query runs, every
// example of a script gives a result.
func TestShipped(t *testing.T) {
	t.Parallel()
	counts := map[string]int{"business": 13, "chemistry": 17, "assistant": 53}
	if got := pack.Shipped(); len(got) != len(counts) {
		t.Errorf("shipped are %q", got)
	}
	for name, want := range counts {
		p, err := pack.OpenShipped(name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := workspace.New(workspace.Config{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(p.Faults, pack.Probe(t.Context(), p, &data.Space{Workspace: w}, engine(t))...) {
			t.Errorf("%s: %s", name, f)
		}
		c := p.Contents()
		if len(c.Tools) != want {
			t.Errorf("%s has %d tools", name, len(c.Tools))
		}
	}
	if _, err := pack.OpenShipped("busnes"); err == nil || !strings.Contains(err.Error(), "did you mean business?") {
		t.Errorf("a misspelt name: %v", err)
	}
}

// What the chemistry pack calculates is right.
func TestChemistry(t *testing.T) {
	t.Parallel()
	p, err := pack.OpenShipped("chemistry")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "chemistry")
	if err := p.Copy(dir); err != nil {
		t.Fatal(err)
	}
	r := started(t, dir, nil)
	for _, s := range []struct{ tool, arguments, want string }{
		{"molecular_weight", `{"formula":"C9H8O4"}`, `"molecular_weight_g_mol":180.159`},
		{"molecular_weight", `{"formula":"CuSO4·5H2O"}`, `249.6`},
		{"molecular_weight", `{"formula":"Ca(OH"}`, "open bracket"},
		{"molecular_weight", `{"formula":"Xy2"}`, "there is no element Xy"},
		{"balance_equation", `{"equation":"C3H8 + O2 -> CO2 + H2O"}`, "C3H8 + 5 O2 -> 3 CO2 + 4 H2O"},
		{"balance_equation", `{"equation":"KMnO4 + HCl -> KCl + MnCl2 + H2O + Cl2"}`, "2 KMnO4 + 16 HCl -> 2 KCl + 2 MnCl2 + 8 H2O + 5 Cl2"},
		{"balance_equation", `{"equation":"H2 -> O2"}`, "cannot be balanced"},
		{"theoretical_yield", `{"limiting":"C7H6O3","mass_g":2,"product":"C9H8O4","got_g":1.9}`, `"theoretical_yield_g":2.609`},
		{"convert_lab_units", `{"value":25,"from":"°C","to":"K"}`, "25 °C = 298.15 K"},
		{"convert_lab_units", `{"value":1,"from":"atm","to":"mL"}`, "is a unit of pressure"},
		{"ph", `{"kind":"weak acid","concentration":0.1,"pk":4.76}`, `"ph":2.88`},
		{"ideal_gas", `{"moles":1,"temperature_c":0,"pressure_kpa":101.325}`, `22.414`},
		{"search_literature", `{"query":"aspirin yields"}`, "P-3 Aspirin in the teaching laboratory"},
		{"check_quotes", `{"quotes":[{"paper":"P-3","quote":"The mean yield of 214 groups was 74 %."},{"paper":"P-3","quote":"The mean yield was 99 %"}]}`, `"all_found":false`},
		{"safety_data", `{"compound":"acetylsalicylic acid"}`, "H302"},
	} {
		if got, _ := call(t, r, "chemistry__"+s.tool, s.tool+s.arguments, s.arguments); !strings.Contains(got, s.want) {
			t.Errorf("%s %s: %s", s.tool, s.arguments, got)
		}
	}
}

// What an assistant changes, later calls see.
func TestAssistant(t *testing.T) {
	t.Parallel()
	p, err := pack.OpenShipped("assistant")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "assistant")
	if err := p.Copy(dir); err != nil {
		t.Fatal(err)
	}
	r := started(t, dir, nil)
	for _, s := range []struct{ tool, arguments, want string }{
		{"query_meetings", `{"text":"Budget"}`, `"start":"2026-03-17 10:00"`},
		{"modify_meeting", `{"id":1,"start":"2026-03-19 10:00","end":"2026-03-19 11:00"}`, `"start":"2026-03-19 10:00"`},
		{"query_meetings", `{"day":"2026-03-19"}`, "Budget review"},
		{"modify_meeting", `{"id":9,"topic":"x"}`, "there is no meeting 9; query_meetings lists them"},
		{"add_alarm", `{"time":"2026-03-19 08:00"}`, `"id":3`},
		{"register_appointment", `{"patient":"Jordan Reed","doctor":"Nwosu","day":"2026-03-18"}`, "the doctor is not there on 2026-03-18"},
		{"register_appointment", `{"patient":"Jordan Reed","doctor":"Nwosu","day":"2026-03-17"}`, "Dr. Amara Nwosu"},
		{"find_hotels", `{"city":"Hamburg"}`, "Alster Palais"},
		{"book_hotel", `{"city":"Hamburg","hotel":"Bahnhof","name":"Jordan Reed","check_in":"2026-03-21","check_out":"2026-03-22"}`, `"booking":1`},
		{"get_user_token", `{"username":"jordan","password":"wrong"}`, "the name or the password is wrong"},
		{"get_user_token", `{"username":"jordan","password":"blue-harbour-7"}`, "tok-7f21"},
		{"query_balance", `{"token":"tok-7f21"}`, "2431.57"},
		{"translate", `{"text":"Thank you!","to":"german"}`, "danke"},
		{"weather_forecast", `{"city":"hamburg","day":"2026-03-21"}`, "sunny"},
		{"document_qa", `{"file":"lease.pdf","question":"How long is the notice?"}`, "three months"},
		{"send_email", `{"receiver":"sam","subject":"x","text":"y"}`, "sam is no mail address"},
	} {
		if got, _ := call(t, r, "assistant__"+s.tool, s.tool+s.arguments, s.arguments); !strings.Contains(got, s.want) {
			t.Errorf("%s %s: %s", s.tool, s.arguments, got)
		}
	}
}
