package intake

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// racing are journals in which somebody else is faster with the first run of a
// thread.
type racing struct {
	*bottest.Memory

	faster func()
}

func (r *racing) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	thread := slices.ContainsFunc(c.Once, func(key string) bool { return strings.HasPrefix(key, "thread/") })
	if first := r.faster; first != nil && thread {
		r.faster = nil
		first()
	}
	return r.Memory.Commit(ctx, c)
}

// Whatever began a run in a thread where somebody else was faster is looked at
// anew: a message is steering then, a command and a form begin a run beside.
func TestGoalsRace(t *testing.T) {
	for name, act := range map[string]bot.Act{
		"message": to("count the tests"),
		"command": bot.Commanded{Text: "run count the tests"},
		"form":    bot.Filled{Form: bot.FormRun, Values: map[string]string{bot.FieldGoal: "count the tests"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t)
			journals := &racing{Memory: s.Memory}
			s.desk.Journals = journals
			var first bot.Answer
			journals.faster = func() { first = s.hear(bottest.Stranger, to("count the lines")) }
			got := s.hear(bottest.Requester, act)
			_, said := act.(bot.Said)
			if !first.Started || got.Run == "" || got.Started == said || (got.Run == first.Run) != said {
				t.Errorf("the faster one got %+v, the other %+v", first, got)
			}
			if !said {
				if b := s.fold(got.Run).Brief; b.ReplyTo != bottest.Channel.String() {
					t.Errorf("the other run answers in %s", b.ReplyTo)
				}
			}
		})
	}
}

// A command that begins a thread has nothing before it; in a thread it has.
func TestCommandHistory(t *testing.T) {
	for name, begins := range map[string]bool{"at the top level": true, "in a thread": false} {
		t.Run(name, func(t *testing.T) {
			l := &library{lines: []bot.Line{{By: "slack:U2", At: bottest.Noon, Text: "the build is red"}}}
			s := opened(t, knowing(l))
			in := s.event(bottest.Requester, bot.Filled{Form: bot.FormRun, Values: map[string]string{bot.FieldGoal: "fix it"}})
			in.Begins = begins
			a := s.hears(in)
			if n := len(s.events(a.Run, 1)); (n == 0) != begins || (l.asked == 0) != begins {
				t.Errorf("%d lines of history, %d were asked for", n, l.asked)
			}
		})
	}
}
