package intake

import (
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/form"
	"github.com/deckhand-bot/deckhand/bot/recurring"
)

func TestControlWord(t *testing.T) {
	for text, want := range map[string]string{
		"stop": "pause", "Stop": "pause", "STOP!!!": "pause", " pause\n": "pause", "resume.": "resume", "cancel …": "cancel",
		"status?": "status", "help": "help", "help 🙏": "help",
		"": "", "!": "", "stop it": "", "please stop": "", "stopp": "", "*stop*": "", "stop2": "", "runs": "", "plan": "", "approve": "",
		"stop stop": "", "ѕtop": "",
	} {
		got := ""
		if c := controlWord(text); c != nil {
			got = c.word
		}
		if got != want {
			t.Errorf("%q is the control word %q, want %q", text, got, want)
		}
	}
}

// What is a command where it is said in a sentence, and what is a goal.
func TestSpokenCommands(t *testing.T) {
	const id = "abcdefghijklmnop"
	for text, want := range map[string]string{
		"runs": "runs", "Runs.": "runs", "plan": "plan", "plan " + id: "plan " + id, "cancel " + id: "cancel " + id, "stop " + id: "pause " + id,
		"approve": "approve", "approve " + id + "-abc23456": "approve " + id + "-abc23456", "deny " + id + "-abc23456 too dear": "deny " + id + "-abc23456 too dear",
		"steer left": "steer left", "steer: left": "steer left", "budget?": "budget", "permissions": "permissions",
		"report": "report", "report now": "report now", "Schedule every Monday: x": "", "Schedule every Monday at 9: x": "schedule every Monday at 9: x", "schedule tomorrow at 9: x": "schedule tomorrow at 9: x", "report at the end what changed": "", "report daily 9:00 on sales": "", "memory list": "memory list",
		"run": "run", "steer": "steer", "watch": "watch", "run the tests": "", "plan a party": "", "plan: a party": "", "approve the invoice": "", "deny it": "", "budget for the party": "",
		"report every weekday 9:00 here": "report every weekday 9:00 here", "report 0 9 * * 1-5": "report 0 9 * * 1-5", "report remove report-x2a4b": "report remove report-x2a4b",
		"report pause the deployment of the server": "", "report every failing test": "", "schedule weekdays at 9am: x": "schedule weekdays at 9am: x", "schedule the release for monday": "",
		"report on sales": "", "schedule a meeting": "", "report list": "report list", "report list of customers": "", "report now #ops": "report now #ops",
		"report now the sales": "", "report change report-x2a4b daily 10:00": "report change report-x2a4b daily 10:00", "memory leaks in the server": "", "status of the build": "", "help me": "", "fix it": "", "": "", "?": "why", "tools list": "tools list", "tools for the party": "",
		"cancel ABCDEFGHIJKLMNOP": "",
	} {
		got := ""
		if c, rest := spokenCommand(text); c != nil {
			got = strings.TrimSpace(c.word + " " + rest)
		}
		if got != want {
			t.Errorf("%q is the command %q, want %q", text, got, want)
		}
	}
}

// One line is a command: each has a word of its own, and help for it or none.
func TestCommandTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range commands() {
		for _, word := range []string{c.word, c.also} {
			if word != "" && (seen[word] || word != strings.ToLower(word)) {
				t.Errorf("the word %q is taken, or not in lower case", word)
			}
			seen[word] = true
		}
		if c.do == nil || c.fits == nil || (c.usage == "") != (c.does == "") || (c.usage != "" && !strings.HasPrefix(c.usage, c.word)) {
			t.Errorf("the line of %q is not whole", c.word)
		}
	}
	s := opened(t)
	help := answerOf(s.hear(bottest.Requester, to("help all")))
	for _, word := range []string{"run GOAL", "status", "runs", "plan", "approve", "deny", "steer TEXT", "pause", "resume", "cancel", "budget", "permissions", "watch", "remember", "memory", "report WHEN", "schedule WHEN: GOAL"} {
		if !strings.Contains(help, "`"+word) {
			t.Errorf("help does not list %s:\n%s", word, help)
		}
	}
}

// Whatever is said: no panic, no error, and a second hearing writes nothing.
func FuzzHear(f *testing.F) {
	for _, text := range []string{"stop", "approve", "deny: no", "plan abcdefghijklmnop", "run: x", "steer", "\x00", "\xff\xfe", "1", "99999999999999999999",
		"+25 %", "<@U1> cancel", strings.Repeat("a ", 30_000), "reply {\"decision\":\"approve\"}", "  ", "Start now",
		"report every weekday 9:00 Europe/Berlin here always", "report now #general mine", "report daily 9:00 workspace", "report list", "report change daily hourly",
		"report remove `daily`", "report 0 9 * * 1-5 \xff", "schedule every monday 8:00: count", "schedule @every 60s queue: x", "schedule pause daily", "schedule 9:00::", "report \u202e", "remember that x", "memory forget m1"} {
		for kind := range 6 {
			f.Add(text, kind, true)
			f.Add(text, kind, false)
		}
	}
	f.Fuzz(func(t *testing.T, text string, kind int, addressed bool) {
		s := opened(t)
		run, checks := s.live(bottest.Approval, twoPoints)
		kept := dailyReport().Text()
		s.Names[recurring.NameSchedule+"daily"] = kept
		_, id, _ := strings.Cut(text, " ")
		acts := []bot.Act{bot.Said{Text: text, To: addressed}, bot.Said{Text: text, Quote: "slack:U2", To: addressed}, bot.Commanded{Text: text},
			bot.Pressed{Button: bot.Button{Act: bot.ActDecide, ID: string(checks[1]), Word: text}}, bot.Pressed{Button: bot.Button{Act: bot.ButtonAct(text), ID: id, Word: text}},
			bot.Filled{Form: text, Values: map[string]string{bot.FieldGoal: text, bot.FieldBudget: text, form.FieldJSON: text}}}
		by := []bot.Person{bottest.Requester, bottest.Stranger, bottest.Robot}[len(text)%3]
		in := s.event(by, acts[uint(kind)%uint(len(acts))])
		in.At = in.At.Add(-time.Hour)
		a := s.hears(in)
		size := s.Size()
		if again := s.hears(in); again != (bot.Answer{}) || s.Size() != size {
			t.Errorf("%+v, then %+v", a, again)
		}
		if by.ID != bottest.Requester.ID && (len(s.fold(run).OpenCheckpoints()) != 2 || s.fold(run).Paused != "" || s.fold(run).Cancelled != nil) {
			t.Errorf("%s changed the run by %q", by.ID, text)
		}
		if by.ID != bottest.Requester.ID && (s.Names[recurring.NameSchedule+"daily"] != kept || s.Names[recurring.NamePaused+"daily"] != "") {
			t.Errorf("%s changed the schedule by %q", by.ID, text)
		}
	})
}
