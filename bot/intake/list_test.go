package intake

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// begun starts a run of somebody, at a thread of its own.
func (s *room) begun(by bot.Person, n int, questions ...agent.CheckpointOpened) agent.RunID {
	s.Helper()
	in := s.event(by, to(fmt.Sprint("goal ", n)))
	in.Where = bottest.Channel.At(fmt.Sprint("30.", n))
	a := s.hears(in)
	for i, q := range questions {
		q.ID = agent.CheckpointID(fmt.Sprintf("%s-%d", a.Run, i))
		s.Happen(s.T, a.Run, agent.Main, q)
	}
	return a.Run
}

func TestMine(t *testing.T) {
	s := opened(t)
	for i := range maxListed + 5 {
		s.begun(bottest.Requester, i)
	}
	s.begun(bottest.Stranger, 100)
	list, err := s.chat.Mine(t.Context(), bottest.Requester)
	if err != nil || len(list) != maxListed || list[0].Goal != fmt.Sprint("goal ", maxListed+4) {
		t.Errorf("%d runs, %v", len(list), err)
	}
	if list, err := s.chat.Mine(t.Context(), bottest.Guest); err != nil || len(list) != 0 {
		t.Errorf("somebody without runs has %+v, %v", list, err)
	}
}

// A list looks at a bounded number of runs, and one that cannot be read does
// not hide the others.
func TestSurveyIsBounded(t *testing.T) {
	s := opened(t)
	old := s.begun(bottest.Requester, 0, bottest.Approval)
	for i := range maxLooked {
		s.begun(bottest.Stranger, i+1)
	}
	if list, err := s.chat.Pending(t.Context(), bottest.Approver); err != nil || len(list) != 0 {
		t.Errorf("looked at more than %d runs for %+v, %v", maxLooked, list, err)
	}
	for _, run := range s.Order[1:11] {
		s.Happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone})
	}
	if list, err := s.chat.Pending(t.Context(), bottest.Approver); err != nil || len(list) != 1 || list[0].Run.ID != old {
		t.Errorf("pending %+v, %v", list, err)
	}
	s.Damaged = s.Order[len(s.Order)-1]
	if list, err := s.chat.Pending(t.Context(), bottest.Approver); err != nil || len(list) != 1 {
		t.Errorf("beside a damaged run: %d, %v", len(list), err)
	}
}

func TestHome(t *testing.T) {
	s := opened(t)
	run := s.begun(bottest.Requester, 1, bottest.Approval, bottest.Stuck)
	s.begun(bottest.Stranger, 2, bottest.Approval)
	home := func(p bot.Person) string {
		in := s.event(p, bot.Visited{})
		in.Where = bot.Address{}
		a := s.hears(in)
		if again := s.hears(in); again.Home == nil || a.Home == nil {
			t.Fatal("the page is shown once only")
		}
		return bot.Markdown(*a.Home)
	}
	waiting := func(text string) string {
		text, _, _ = strings.Cut(text, "**My runs**")
		return text
	}
	if text := home(bottest.Requester); strings.Contains(waiting(text), "May I?") || !strings.Contains(text, "I am stuck") || !strings.Contains(text, string(run)) || strings.Contains(text, "goal 2") {
		t.Errorf("the requester sees\n%s", text)
	}
	if text := home(bottest.Approver); strings.Count(waiting(text), "May I?") != 2 || strings.Contains(text, "I am stuck") || !strings.Contains(text, "None yet") {
		t.Errorf("the approver sees\n%s", text)
	}
}

// A command without a run is about the one in the thread, or the only one of
// the person at the place; runs of other places are nobody's business.
func TestTarget(t *testing.T) {
	s := opened(t)
	at := func(by bot.Person, place string, act bot.Act) bot.Answer {
		in := s.event(by, act)
		in.Where = bot.Address{Platform: "slack", Workspace: "T1", Channel: place, ID: ""}
		return s.hears(in)
	}
	first := s.begun(bottest.Requester, 1)
	if a := at(bottest.Requester, "C1", bot.Commanded{Text: "pause"}); a.Run != first || s.fold(first).Paused == "" {
		t.Errorf("the only one: %+v", a)
	}
	if a := at(bottest.Requester, "C2", bot.Commanded{Text: "pause"}); !strings.Contains(a.Private, "No run of yours is at work here") {
		t.Errorf("elsewhere: %+v", a)
	}
	second := s.begun(bottest.Requester, 2)
	if a := at(bottest.Requester, "C1", bot.Commanded{Text: "cancel"}); a.Buttons == nil || len(a.Buttons.List) != 2 || s.fold(second).Cancelled != nil {
		t.Errorf("two: %+v", a)
	}
	if a := at(bottest.Requester, "C2", bot.Commanded{Text: "cancel " + string(second)}); s.fold(second).Cancelled == nil {
		t.Errorf("by its name: %+v", a)
	}
	for by, sees := range map[string]bool{bottest.Requester.ID: true, bottest.Operator.ID: true, bottest.Approver.ID: true, bottest.Stranger.ID: false} {
		p := bot.Person{ID: by, Full: true}
		for _, act := range []bot.Act{bot.Commanded{Text: "status " + string(first)}, bot.Pressed{Button: bot.Button{Act: bot.ActShow, ID: string(first), Word: "status"}}} {
			if a := at(p, "C2", act); strings.Contains(a.Private, "goal 1") != sees {
				t.Errorf("%s from another channel, %+v: %q", by, act, a.Private)
			}
			if a := at(p, "C1", act); !strings.Contains(a.Private, "goal 1") {
				t.Errorf("%s from the channel, %+v: %q", by, act, a.Private)
			}
		}
	}
}

// A damaged journal is said to the person: coming again would not mend it.
func TestDamagedRun(t *testing.T) {
	s := opened(t)
	s.Damaged, _ = s.live(bottest.Approval)
	if a := s.hear(bottest.Requester, say("hurry")); !strings.Contains(a.Private, "damaged") {
		t.Errorf("answer %+v", a)
	}
}

// One damaged journal does not hide the others.
func TestListOfDamagedRuns(t *testing.T) {
	m := opened(t)
	good, damaged := m.begun(bottest.Requester, 1), m.begun(bottest.Requester, 2)
	for _, run := range []agent.RunID{good, damaged} {
		m.Happen(t, run, "task/a", bottest.Approval)
	}
	m.Damaged = damaged
	list, _, err := ListRuns(t.Context(), m.desk, 0)
	if err != nil || len(list) != 2 {
		t.Fatalf("list %+v, %v", list, err)
	}
	slices.SortFunc(list, func(a, b card.Status) int { return strings.Compare(a.Problem, b.Problem) })
	if list[0].Run != good || list[0].State != agent.RunRunning {
		t.Errorf("the good run is %+v", list[0])
	}
	if list[1].Run != m.Damaged || !strings.Contains(list[1].Problem, "entry 2") || list[1].Started.IsZero() {
		t.Errorf("the damaged run is %+v", list[1])
	}
}
