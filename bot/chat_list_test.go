package bot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
)

// begun starts a run of somebody, at a thread of its own.
func (s *room) begun(by Person, n int, questions ...agent.CheckpointOpened) agent.RunID {
	s.Helper()
	in := s.event(by, to(fmt.Sprint("goal ", n)))
	in.Where = channel.At(fmt.Sprint("30.", n))
	a := s.hears(in)
	for i, q := range questions {
		q.ID = agent.CheckpointID(fmt.Sprintf("%s-%d", a.Run, i))
		s.happen(s.T, a.Run, agent.Main, q)
	}
	return a.Run
}

func TestMine(t *testing.T) {
	s := opened(t)
	for i := range maxListed + 5 {
		s.begun(requester, i)
	}
	s.begun(stranger, 100)
	list, err := s.chat.Mine(t.Context(), requester)
	if err != nil || len(list) != maxListed || list[0].Goal != fmt.Sprint("goal ", maxListed+4) {
		t.Errorf("%d runs, %v", len(list), err)
	}
	if list, err := s.chat.Mine(t.Context(), guest); err != nil || len(list) != 0 {
		t.Errorf("somebody without runs has %+v, %v", list, err)
	}
}

// A list looks at a bounded number of runs, and one that cannot be read does
// not hide the others.
func TestSurveyIsBounded(t *testing.T) {
	s := opened(t)
	old := s.begun(requester, 0, approval)
	for i := range maxLooked {
		s.begun(stranger, i+1)
	}
	if list, err := s.chat.Pending(t.Context(), approver); err != nil || len(list) != 0 {
		t.Errorf("looked at more than %d runs for %+v, %v", maxLooked, list, err)
	}
	for _, run := range s.order[1:11] {
		s.happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone})
	}
	if list, err := s.chat.Pending(t.Context(), approver); err != nil || len(list) != 1 || list[0].Run.ID != old {
		t.Errorf("pending %+v, %v", list, err)
	}
	s.damaged = s.order[len(s.order)-1]
	if list, err := s.chat.Pending(t.Context(), approver); err != nil || len(list) != 1 {
		t.Errorf("beside a damaged run: %d, %v", len(list), err)
	}
}

func TestHome(t *testing.T) {
	s := opened(t)
	run := s.begun(requester, 1, approval, stuck)
	s.begun(stranger, 2, approval)
	home := func(p Person) string {
		in := s.event(p, Visited{})
		in.Where = Address{}
		a := s.hears(in)
		if again := s.hears(in); again.Home == nil || a.Home == nil {
			t.Fatal("the page is shown once only")
		}
		return Markdown(*a.Home)
	}
	waiting := func(text string) string {
		text, _, _ = strings.Cut(text, "**My runs**")
		return text
	}
	if text := home(requester); strings.Contains(waiting(text), "May I?") || !strings.Contains(text, "I am stuck") || !strings.Contains(text, string(run)) || strings.Contains(text, "goal 2") {
		t.Errorf("the requester sees\n%s", text)
	}
	if text := home(approver); strings.Count(waiting(text), "May I?") != 2 || strings.Contains(text, "I am stuck") || !strings.Contains(text, "None yet") {
		t.Errorf("the approver sees\n%s", text)
	}
}

// A command without a run is about the one in the thread, or the only one of
// the person at the place; runs of other places are nobody's business.
func TestTarget(t *testing.T) {
	s := opened(t)
	at := func(by Person, place string, act Act) Answer {
		in := s.event(by, act)
		in.Where = Address{"slack", "T1", place, ""}
		return s.hears(in)
	}
	first := s.begun(requester, 1)
	if a := at(requester, "C1", Commanded{Text: "pause"}); a.Run != first || s.fold(first).Paused == "" {
		t.Errorf("the only one: %+v", a)
	}
	if a := at(requester, "C2", Commanded{Text: "pause"}); !strings.Contains(a.Private, "No run lives here") {
		t.Errorf("elsewhere: %+v", a)
	}
	second := s.begun(requester, 2)
	if a := at(requester, "C1", Commanded{Text: "cancel"}); !strings.Contains(a.Private, "several") || s.fold(second).Cancelled != nil {
		t.Errorf("two: %+v", a)
	}
	if a := at(requester, "C2", Commanded{Text: "cancel " + string(second)}); s.fold(second).Cancelled == nil {
		t.Errorf("by its name: %+v", a)
	}
	for by, sees := range map[string]bool{requester.ID: true, operator.ID: true, approver.ID: true, stranger.ID: false} {
		p := Person{ID: by, Full: true}
		for _, act := range []Act{Commanded{Text: "status " + string(first)}, Pressed{Button{Act: ActShow, ID: string(first), Word: "status"}}} {
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
	s.damaged, _ = s.live(approval)
	if a := s.hear(requester, say("hurry")); !strings.Contains(a.Private, "damaged") {
		t.Errorf("answer %+v", a)
	}
}
