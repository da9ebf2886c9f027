package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// plainFace prints lines of text, without anything that only a terminal knows.
type plainFace struct {
	out, err io.Writer
	telling  bot.Telling
	asked    agent.CheckpointID // whose question was printed last
}

func (p *plainFace) begin(r agent.Run) { p.show(standing(p.telling, r, time.Now())) }

func (p *plainFace) event(before, after agent.Run, e agent.Event) {
	p.show(news(p.telling, before, after, e, true))
	if _, planned := e.Body.(agent.PlanAccepted); planned {
		p.show(planRows(p.telling.Live(after, e.At), "  ", 0)[1:]) // the news had its title
	}
}

func (p *plainFace) notice(text string) { fmt.Fprintln(p.err, say(oneLine(text)).paint(false)) }

func (p *plainFace) show(rows []row) {
	for _, r := range rows {
		fmt.Fprintln(p.out, strings.TrimRight(r.paint(false), " "))
	}
}

// refresh prints the question that is to be answered next.
func (p *plainFace) refresh(r agent.Run, _ dialogue, now time.Time) time.Duration {
	c := current(r)
	if c == nil || c.ID == p.asked {
		return 0
	}
	p.asked = c.ID
	p.show(questionOf(0).card(p.telling.Question(r, *c, now)))
	p.show([]row{choices(*c)})
	return 0
}

func (*plainFace) typed(string)    {}
func (*plainFace) suspend()        {}
func (*plainFace) close(agent.Run) {}

// Play prints what came into a journal after an entry, as plain lines, and the
// question that is open then.
func Play(w io.Writer, t bot.Telling, events []agent.Event, after uint64, now time.Time) {
	p := &plainFace{out: w, err: w, telling: t}
	var r agent.Run
	for _, e := range events {
		before := r
		if r = r.Apply(e); e.Seq > after {
			p.event(before, r, e)
		}
	}
	p.refresh(r, dialogue{}, now)
}
