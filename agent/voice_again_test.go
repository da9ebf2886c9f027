package agent

import (
	"testing"
	"time"
)

// posts folds a run of a thread with an open question, and what became of its
// posts.
type posts struct {
	*testing.T
	r   Run
	at  time.Time
	seq uint64
}

const (
	asked = CheckpointID("r-1")
	never = time.Duration(-1)
)

func talking(t *testing.T) *posts {
	t.Helper()
	p := &posts{T: t, at: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)}
	p.happen(Main, RunStarted{Goal: "g", Requester: "slack:U1", ReplyTo: "slack:T1:C1:1"})
	p.happen(Main, CheckpointOpened{ID: asked, Ask: CheckApproval, Choices: []string{DecideApprove, DecideDeny}, Expires: p.at.Add(24 * time.Hour)})
	p.came(KeyCard, OutcomeOK, Shown{Message: "slack:T1:C1:2", Thread: "slack:T1:C1:1"})
	return p
}

func (p *posts) happen(s StrandID, b Body) {
	p.seq++
	p.r = p.r.Apply(Event{Run: "r", Seq: p.seq, At: p.at, Strand: s, Body: b})
}

// came is the outcome of a post.
func (p *posts) came(key string, state OutcomeState, s Shown) {
	p.happen(Voice, ToolOutcome{Effect: Post{Key: key}.Effect(), State: state, Text: s.Text()})
}

// next wants the post that is due now, and when the voice is to look again.
func (p *posts) next(when, key string, after time.Duration) {
	p.Helper()
	got, wake, due := duePost(p.r, p.at)
	if due != (key != "") || got.Key != key {
		p.Errorf("%s: due is %+v, want %q", when, got, key)
	}
	want := p.at.Add(after)
	if after == never {
		want = time.Time{}
	}
	if !due && !wake.Equal(want) {
		p.Errorf("%s: it looks again at %s, want %s", when, wake, want)
	}
}

var inDM = Shown{Message: "slack:T1:DU1:5", Thread: "slack:T1:DU1:5"}

// What its place does not take is tried again at its time, or when the place is
// there again; and where it was told elsewhere meanwhile, it stays told.
func TestAPlaceThatIsAwayIsTriedAgain(t *testing.T) {
	for name, elsewhere := range map[string]bool{"nobody could be told": false, "told elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			p := talking(t)
			p.next("at first", KeyAsk(asked), 0)
			first, key := Shown{Failed: "not in channel", Again: p.at.Add(time.Minute), Tries: 1}, KeyAsk(asked)
			if elsewhere {
				first = Shown{Message: inDM.Message, Thread: inDM.Thread, Again: first.Again, Tries: 1}
			}
			p.came(key, map[bool]OutcomeState{true: OutcomeOK, false: OutcomeError}[elsewhere], first)
			if elsewhere {
				key = KeyAgain(key)
			}
			p.next("while it is away", "", time.Minute)
			if put := p.r.Put(p.r.Checks[asked]); put != elsewhere {
				t.Errorf("it was put before people: %t", put)
			}
			p.at = p.at.Add(time.Minute)
			p.next("after a minute", key, 0)
			p.came(key, OutcomeError, Shown{Failed: "not in channel", Again: p.at.Add(time.Hour), Tries: 2})
			p.next("still away", "", time.Hour)
			p.happen(Main, RunControlled{Word: WordWake, By: Deckhand})
			p.next("woken for another reason", "", time.Hour)
			p.happen(Main, RunControlled{Word: WordWake, By: Deckhand, Place: "slack:T1:C1:"})
			p.next("the place is there again", key, 0)
			p.came(key, OutcomeOK, Shown{Message: "slack:T1:C1:9", Thread: "slack:T1:C1:1"})
			p.next("it is there", "", 12*time.Hour-time.Minute) // the reminder
			p.happen(Main, CheckpointDecided{ID: asked, Decision: DecideApprove, By: "slack:U1"})
			p.next("decided", KeyClose(asked), 0)
		})
	}
}

// What is decided or over meanwhile is not asked again, and a report is told
// where it belongs, too.
func TestOnlyWhatStillMattersIsTriedAgain(t *testing.T) {
	p := talking(t)
	away := inDM
	away.Again = p.at
	p.came(KeyAsk(asked), OutcomeOK, away)
	p.happen(Main, CheckpointDecided{ID: asked, Decision: DecideApprove, By: "slack:U1"})
	p.came(KeyClose(asked), OutcomeOK, Shown{})
	p.next("decided", "", never)
	p.happen(Main, PlanAccepted{Plan: Plan{Tasks: []Task{{ID: "a"}}}})
	p.happen(Main, Reported{Headline: "done", Artifacts: Texts{"a.csv"}})
	p.happen(Main, RunEnded{State: RunDone})
	for _, key := range []string{KeyUpload(0), KeyReport} {
		p.next("over", key, 0)
		p.came(key, OutcomeOK, away)
	}
	for _, key := range []string{KeyUpload(0), KeyReport} {
		p.next("over, and told elsewhere", KeyAgain(key), 0)
		p.came(KeyAgain(key), OutcomeError, Shown{Failed: "it is gone"})
	}
	p.next("given up", "", never)
}

// An open question whose message, thread or channel is gone is asked again, at
// once.
func TestAQuestionWhosePlaceIsGoneIsAskedAgain(t *testing.T) {
	for place, again := range map[string]bool{
		"slack:T1:C1:3": true, "slack:T1:C1:1": true, "slack:T1:C1:": true, "slack:T1:C11:": false, "slack:T1:C1:2": false,
	} {
		p := talking(t)
		p.came(KeyAsk(asked), OutcomeOK, Shown{Message: "slack:T1:C1:3", Thread: "slack:T1:C1:1"})
		p.happen(Main, RunControlled{Word: WordWake, By: Deckhand, Place: place, Gone: true})
		if !again {
			p.next(place, "", 12*time.Hour)
			continue
		}
		p.next(place, KeyAgain(KeyAsk(asked)), 0)
		p.came(KeyAgain(KeyAsk(asked)), OutcomeOK, inDM)
		p.next("asked again", "", 12*time.Hour)
	}
}
