package intake

import (
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// A typed word decides a question only where its author can have meant just that
// one (F17): it is the only one that takes the word, it stood there by the
// platform's clock, the message was not edited, and what follows is no more than
// one word is enough for. Else nothing is decided, and a button asks.
func TestTypedDecisions(t *testing.T) {
	deleting := bottest.Approval
	deleting.Tool, deleting.Class = "delete_file", agent.ClassDelete
	sending := deleting
	sending.Class = agent.ClassSend
	commanding := deleting
	commanding.Class = agent.ClassCommand
	older := bottest.Approval
	older.Class = "" // an older build asked
	ask := func(list ...agent.CheckpointOpened) []agent.CheckpointOpened { return list }
	for _, tt := range []struct {
		name      string
		questions []agent.CheckpointOpened
		by        bot.Person
		act       bot.Act
		after     time.Duration // of the message, behind the newest question's stamp
		change    func(in *bot.Inbound)
		want      string // the decision, or what the person is told
		buttons   int
	}{
		{"seen", ask(bottest.Approval), bottest.Approver, say("approve"), 2 * time.Second, nil, agent.DecideApprove, 0},
		{"too soon to have been read", ask(bottest.Approval), bottest.Approver, say("approve"), 1999 * time.Millisecond, nil, "Nothing is decided yet", 1},
		{"written before it", ask(bottest.Approval), bottest.Approver, say("approve"), -time.Minute, nil, "Nothing is decided yet", 1},
		{"written before it, and delivered late", ask(bottest.Approval), bottest.Approver, say("approve"), -time.Minute, func(in *bot.Inbound) { in.Missed = true }, "Nothing is decided yet", 1},
		{"a denial before it", ask(bottest.Approval), bottest.Approver, say("deny: not on a Friday"), -time.Second, nil, "Nothing is decided yet", 1},
		{"a command before it", ask(bottest.Approval), bottest.Approver, bot.Commanded{Text: "approve"}, time.Second, nil, "Nothing is decided yet", 1},
		{"a command", ask(bottest.Approval), bottest.Approver, bot.Commanded{Text: "approve"}, time.Minute, nil, agent.DecideApprove, 0},
		{"a command without a stamp", ask(bottest.Approval), bottest.Approver, bot.Commanded{Text: "approve"}, 0, func(in *bot.Inbound) { in.At = time.Time{} }, agent.DecideApprove, 0},
		{"a choice before it", ask(bottest.Clarify), bottest.Requester, say("blue"), 0, nil, "Nothing is decided yet", 1},
		{"money before it", ask(bottest.Budget), bottest.Approver, say("+25 %"), time.Second, nil, "Nothing is decided yet", 1},
		{"edited", ask(bottest.Approval), bottest.Approver, say(bot.Correction + "approve"), time.Hour, func(in *bot.Inbound) { in.Edited = true }, "was changed decides nothing", 1},
		{"edited into a mention", ask(bottest.Approval), bottest.Approver, to("approve"), time.Hour, func(in *bot.Inbound) { in.Edited = true }, "was changed decides nothing", 1},
		{"two that take it", ask(bottest.Approval, bottest.Planned), bottest.Approver, say("approve"), time.Hour, nil, "Which one do you mean", 2},
		{"two, by a command", ask(bottest.Approval, bottest.Planned), bottest.Approver, bot.Commanded{Text: "deny"}, time.Hour, nil, "Which one do you mean", 2},
		{"two, of which one is a delete", ask(deleting, bottest.Approval), bottest.Approver, to("ok"), time.Hour, nil, "Which one do you mean", 2},
		{"a choice that is named like a button of another", ask(bottest.Approval, agent.CheckpointOpened{Ask: agent.CheckClarify, Choices: []string{"Approve", agent.DecideAnswer}}), bottest.Approver, say("approve"), time.Hour, nil, "Which one do you mean", 1},
		{"a delete", ask(deleting), bottest.Approver, say("approve"), time.Hour, nil, "A word is not enough for a delete", 1},
		{"no to a delete", ask(deleting), bottest.Approver, to("no"), time.Hour, nil, "A word is not enough for a delete", 1},
		{"no to a delete, and why", ask(deleting), bottest.Approver, say("deny, it is the only copy"), time.Hour, nil, agent.DecideDeny, 0},
		{"a delete by a command", ask(deleting), bottest.Approver, bot.Commanded{Text: "approve"}, time.Hour, nil, "A word is not enough for a delete", 1},
		{"a send", ask(sending), bottest.Approver, say("always"), time.Hour, nil, "something that others will see", 1},
		{"a program", ask(commanding), bottest.Approver, say("approve"), time.Hour, nil, "not enough for a command", 1},
		{"a call of which nothing is known", ask(older), bottest.Approver, say("approve"), time.Hour, nil, "A word is not enough", 1},
		{"doing it twice", ask(bottest.Uncertain), bottest.Approver, say("repeat"), time.Hour, nil, "doing something twice", 1},
		{"it happened", ask(bottest.Uncertain), bottest.Approver, say("done"), time.Hour, nil, agent.DecideDone, 0},
		{"of somebody else", ask(deleting), bottest.Requester, to("approve"), time.Hour, nil, "Only", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := opened(t)
			run, checks := s.live(tt.questions...)
			in := s.event(tt.by, tt.act)
			in.At = s.fold(run).PutAt(s.fold(run).Checks[checks[len(checks)-1]]).Add(tt.after)
			if tt.change != nil {
				tt.change(&in)
			}
			before := len(s.Journals[run])
			a := s.hears(in)
			written := s.events(run, before)
			if got := what(a, written); got != tt.want && (a.Private == "" || !strings.Contains(a.Private, tt.want)) {
				t.Fatalf("%s: %+v, want %s", got, a, tt.want)
			}
			if tt.buttons == 0 {
				return
			}
			if len(written) > 0 || a.Buttons == nil || len(a.Buttons.List) != tt.buttons || !a.Confidential && a.Public != nil {
				t.Fatalf("wrote %+v, answered %+v", written, a)
			}
			b := a.Buttons.List[len(a.Buttons.List)-1]
			if other := s.hear(bottest.Stranger, bot.Pressed{Button: b}); len(s.Journals[run]) != before || other.Instead != nil {
				t.Errorf("somebody else's click did something: %+v", other)
			}
			click := s.hear(tt.by, bot.Pressed{Button: b})
			if c := s.fold(run).Checks[agent.CheckpointID(b.ID)]; c.Open() || c.Decision.By != tt.by.ID || click.Instead == nil {
				t.Errorf("the click decided nothing: %+v, %+v", c, click)
			}
			if again := s.hear(tt.by, bot.Pressed{Button: b}); !strings.Contains(again.Private, "already") {
				t.Errorf("the second click: %+v", again)
			}
		})
	}
}

// The race of the review: Bob's word, written to one question, comes when that is
// decided and another stands there.
func TestLateWord(t *testing.T) {
	s := opened(t)
	run, checks := s.live(bottest.Approval)
	bob := s.event(bottest.Approver, say("approve"))
	bob.At = s.fold(run).PutAt(s.fold(run).Checks[checks[0]]).Add(time.Minute)
	s.hear(bottest.Approver, pressing(bot.ActDecide, checks[0], agent.DecideApprove))
	next := bottest.Approval
	next.ID = agent.CheckpointID(string(run) + "-next")
	s.Happen(t, run, "task/a", next)
	s.put(next.ID)
	s.posted(next.ID, bob.At.Add(time.Second))
	if r := s.fold(run); !r.PutAt(r.Checks[next.ID]).Before(bob.At) { // by the platform's stamps, not by when it came
		bob.At = r.PutAt(r.Checks[next.ID]).Add(-time.Second)
	} else {
		bob.At = bob.At.Add(-time.Hour)
	}
	if a := s.hears(bob); !strings.Contains(a.Private, "Nothing is decided yet") || !s.fold(run).Checks[next.ID].Open() {
		t.Errorf("answered %+v", a)
	}
}

// Own words answer a question only where they can be meant for it; else they are
// steering.
func TestFreeWords(t *testing.T) {
	for name, change := range map[string]func(in *bot.Inbound, put time.Time){
		"before it": func(in *bot.Inbound, put time.Time) { in.At = put.Add(time.Second) },
		"edited":    func(in *bot.Inbound, _ time.Time) { in.Edited = true },
	} {
		for _, question := range []agent.CheckpointOpened{bottest.Clarify, bottest.Stuck} {
			s := opened(t)
			run, checks := s.live(question)
			in := s.event(bottest.Requester, say("use the other file"))
			change(&in, s.fold(run).PutAt(s.fold(run).Checks[checks[0]]))
			before := len(s.Journals[run])
			if got := what(s.hears(in), s.events(run, before)); got != "trusted" || !s.fold(run).Checks[checks[0]].Open() {
				t.Errorf("%s, to a %s: %s", name, question.Ask, got)
			}
		}
	}
}

// Words that nobody understood yet are what they are edited to, and nothing once
// their message is deleted; a deletion that comes again, or late, changes nothing.
func TestWordsChangedBeforeTheyAreUnderstood(t *testing.T) {
	s := opened(t, func(c *Config) { c.Hear = true })
	run, checks := s.live(bottest.Approval)
	said := s.event(bottest.Requester, say("warte, das ist der falsche Hafen"))
	s.hears(said)
	if r := s.fold(run); len(r.Unread) != 1 {
		t.Fatalf("%d words wait to be understood", len(r.Unread))
	}
	edited := s.event(bottest.Requester, say(bot.Correction+"warte, das ist die falsche Mole"))
	edited.Message, edited.Edited = said.Message, true
	s.hears(edited)
	if r := s.fold(run); len(r.Unread) != 1 || r.Unread[0].Text != "warte, das ist die falsche Mole" || r.Unread[0].Unread.Answer != nil {
		t.Errorf("after the edit there wait %+v", r.Unread)
	}
	gone := s.event(bot.Person{}, bot.Unsaid{})
	gone.Message = said.Message
	for range 2 {
		s.hears(gone)
		if r := s.fold(run); len(r.Unread) != 0 || len(r.Said) != 0 || !r.Checks[checks[0]].Open() {
			t.Errorf("after the deletion there wait %+v, and are noted %+v", r.Unread, r.Said)
		}
	}
}

// What is typed or clicked in another channel decides nothing: those there have not
// seen the question. Where the person talks to the bot alone, on its own page, and
// where the run has reminded them, it counts.
func TestOtherChannelDecidesNothing(t *testing.T) {
	other := bot.Address{Platform: "slack", Workspace: "T1", Channel: "C2", ID: "40.1"}
	conversation := bot.Address{Platform: "slack", Workspace: "T1", Channel: "DU2"}
	for name, tt := range map[string]struct {
		at   bot.Address
		act  func(id agent.CheckpointID) bot.Act
		done bool
	}{
		"a click":          {other, func(id agent.CheckpointID) bot.Act { return pressing(bot.ActDecide, id, agent.DecideApprove) }, false},
		"a command":        {other, func(id agent.CheckpointID) bot.Act { return bot.Commanded{Text: "approve " + string(id)} }, false},
		"a message":        {other, func(id agent.CheckpointID) bot.Act { return to("approve " + string(id)) }, false},
		"a bare word":      {other, func(agent.CheckpointID) bot.Act { return to("approve") }, false},
		"alone":            {conversation, func(id agent.CheckpointID) bot.Act { return bot.Commanded{Text: "approve " + string(id), Direct: true} }, true},
		"the bot's page":   {bot.Address{Platform: "slack", Workspace: "T1"}, func(id agent.CheckpointID) bot.Act { return pressing(bot.ActDecide, id, agent.DecideApprove) }, true},
		"a click reminded": {conversation, func(id agent.CheckpointID) bot.Act { return pressing(bot.ActDecide, id, agent.DecideApprove) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t)
			run, checks := s.live(bottest.Approval)
			if name == "a click reminded" {
				s.Happen(t, run, agent.Voice, agent.ToolOutcome{Effect: agent.Post{Key: "raise/0"}.Effect(), State: agent.OutcomeOK,
					Text: agent.Shown{Message: conversation.At("9.1").String(), Thread: conversation.String()}.Text()})
			}
			before := len(s.Journals[run])
			in := s.event(bottest.Approver, tt.act(checks[0]))
			in.Where, in.At = tt.at, time.Now()
			if in.Message != (bot.Address{}) {
				in.Message = tt.at
			}
			a := s.hears(in)
			if open := s.fold(run).Checks[checks[0]].Open(); open == tt.done {
				t.Fatalf("decided: %v, %+v", !open, a)
			}
			if !tt.done && (a.Private == "" || len(s.Journals[run]) != before) {
				t.Errorf("%d events, answered %+v", len(s.Journals[run])-before, a)
			}
		})
	}
}
