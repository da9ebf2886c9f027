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
func (p *plainFace) refresh(r agent.Run, _ dialogue, _ time.Time) time.Duration {
	c := current(r)
	if c == nil || c.ID == p.asked {
		return 0
	}
	p.asked = c.ID
	p.show(questionOf(0).card(p.telling.Question(r, *c, time.Now())))
	p.show([]row{choices(*c)})
	return 0
}

func (*plainFace) typed(string)    {}
func (*plainFace) suspend()        {}
func (*plainFace) close(agent.Run) {}
