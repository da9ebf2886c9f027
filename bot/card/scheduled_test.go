package card

import (
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// postedReport is a report's run, in which some posts failed.
func postedReport(name string, failed ...string) agent.Run {
	return spokenReport(name, agent.OutcomeError, "error: post card to slack:T1:C1: not_in_channel", failed...)
}

// spokenReport is a report's run, after some of its posts with an outcome.
func spokenReport(name string, state agent.OutcomeState, text string, keys ...string) agent.Run {
	tick := &agent.Tick{Schedule: name, At: bottest.Noon, Report: true, Raise: []string{"slack:U4", "U6"}}
	events := []agent.Body{
		agent.RunStarted{Goal: "Report " + name, ReplyTo: "slack:T1:C1:", Tick: tick},
		agent.Reported{Headline: "2 done, 1 needs you <!here>", Body: "## Done\n\n- ✓ `abcdefghijklmnop` · Count the lines\n\n## Needs you\n\nNothing."},
		agent.RunEnded{State: agent.RunDone},
	}
	var r agent.Run
	at := func(s agent.StrandID, b agent.Body) {
		r = r.Apply(agent.Event{Run: "abcdefghijklmnop", Strand: s, Seq: r.Seq + 1, At: bottest.Noon, Body: b})
	}
	for _, b := range events {
		at(agent.Main, b)
	}
	for _, key := range keys {
		p := agent.Post{Key: key, Kind: agent.PostScheduled}
		at(agent.Voice, p.Intent(time.Time{}))
		at(agent.Voice, agent.ToolOutcome{Effect: p.Effect(), State: state, Text: text})
	}
	return r
}

func TestScheduledCards(t *testing.T) {
	head, body, raise := agent.Post{Key: agent.KeyCard}, agent.Post{Key: agent.KeyReport}, agent.Post{Key: agent.KeyRaise(0), To: "slack:U4"}
	alert := postedReport("")
	alert.Brief.Direct = true
	own := postedReport("report-x7k2q", agent.KeyCard)
	own.Brief.Direct, own.Brief.Requester = true, "slack:U1"
	for name, c := range map[string]bot.Card{
		"scheduled-head":        Scheduled(postedReport("daily"), head),
		"scheduled-body":        Scheduled(postedReport("daily"), body),
		"scheduled-now":         Scheduled(postedReport(""), head),
		"scheduled-alert":       Scheduled(alert, head),
		"scheduled-raise":       Scheduled(postedReport("daily", agent.KeyCard), raise),
		"scheduled-own":         Scheduled(own, head),
		"scheduled-raise-own":   Scheduled(own, agent.Post{Key: agent.KeyRaise(0), To: "slack:U1"}),
		"scheduled-raise-shy":   Scheduled(own, raise),
		"scheduled-raise-now":   Scheduled(postedReport("", agent.KeyCard), agent.Post{Key: agent.KeyRaise(1), To: "U6"}),
		"scheduled-status":      Standing(postedReport("daily"), bottest.Noon),
		"scheduled-posted":      Standing(spokenReport("daily", agent.OutcomeOK, agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:m1"}.Text(), agent.KeyCard, agent.KeyReport), bottest.Noon),
		"scheduled-undelivered": Standing(postedReport("daily", agent.KeyCard), bottest.Noon),
	} {
		t.Run(name, func(t *testing.T) { bottest.Golden(t, name, c) })
	}
	if s := StatusOf(postedReport("daily", agent.KeyCard)); !strings.Contains(s.WaitingFor, "not_in_channel") || s.State != agent.RunDone {
		t.Errorf("its status is %+v", s)
	}
}
