package agent

import (
	"testing"
)

// scheduled is a report as its tick began it.
func scheduled(files ...string) *journal {
	return begin(RunStarted{ReplyTo: "slack:T1:C1:", Tick: &Tick{Schedule: "daily", At: noon, Report: true, Raise: []string{"slack:U8", "slack:U9"}}}).
		on(Main, Reported{Headline: "2 done", Body: "Done", Artifacts: files}, RunEnded{State: RunDone})
}

// spoken answers the voice's next post and returns its key.
func (j *journal) spoken(t *testing.T, s Shown, state OutcomeState) string {
	t.Helper()
	speak, is := first(j.Run, Voice).(Speak)
	if !is {
		return ""
	}
	text := s.Text()
	if state != OutcomeOK {
		text = "error: no such channel"
	}
	j.on(Voice, speak.Post.Intent(noon), ToolOutcome{Effect: speak.Post.Effect(), State: state, Text: text})
	if speak.Post.Kind != PostScheduled && speak.Post.Kind != PostUpload {
		t.Errorf("a scheduled report made a post of the kind %s", speak.Post.Kind)
	}
	return speak.Post.Key + ">" + speak.Post.To
}

func TestScheduledReportPostsHeadlineBodyAndFiles(t *testing.T) {
	j := scheduled("spend.png")
	var keys []string
	for {
		key := j.spoken(t, Shown{Message: "slack:T1:C1:1.1", Thread: "slack:T1:C1:1.1"}, OutcomeOK)
		if key == "" {
			break
		}
		keys = append(keys, key)
	}
	want := []string{"card>", "report>", "upload/0>"}
	if len(keys) != len(want) || keys[0] != want[0] || keys[1] != want[1] || keys[2] != want[2] {
		t.Errorf("posts %v, want %v", keys, want)
	}
	if j.Thread() != "slack:T1:C1:1.1" {
		t.Errorf("its thread is %q", j.Thread())
	}
	if len(Cards(j.Run)) != 0 || j.Replied() || Undelivered(j.Run) != "" {
		t.Errorf("cards %v, replied %v, undelivered %q; a headline is never edited", Cards(j.Run), j.Replied(), Undelivered(j.Run))
	}
}

func TestUndeliveredReportIsRaised(t *testing.T) {
	j := scheduled("spend.png")
	j.spoken(t, Shown{}, OutcomeError)
	if Undelivered(j.Run) == "" {
		t.Fatal("nothing says that it could not be posted")
	}
	var keys []string
	for key := j.spoken(t, Shown{Message: "slack:T1:D8:1"}, OutcomeOK); key != ""; key = j.spoken(t, Shown{Message: "slack:T1:D8:1"}, OutcomeOK) {
		keys = append(keys, key)
	}
	if len(keys) != 2 || keys[0] != "raise/0>slack:U8" || keys[1] != "raise/1>slack:U9" {
		t.Errorf("told %v, want both people, once", keys)
	}
}

func TestUndeliveredBodyIsRaised(t *testing.T) {
	j := scheduled()
	j.spoken(t, Shown{Message: "slack:T1:C1:1.1", Thread: "slack:T1:C1:1.1"}, OutcomeOK)
	j.spoken(t, Shown{}, OutcomeError)
	if key := j.spoken(t, Shown{Message: "slack:T1:D8:1"}, OutcomeOK); key != "raise/0>slack:U8" {
		t.Errorf("after the body failed: %q", key)
	}
}
