package main

// A thread as a picture: each message with its author, each part of a card as a
// chat would show it.

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"path/filepath"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// Measures, in pixels.
const (
	wide   = 820.0
	margin = 24.0
	left   = 72.0 // of what a message says
	inner  = wide - left - margin
	normal = 14.0
	small  = 12.5

	maxColumns = 92 // characters of a line of code
)

// draw is the picture of the two scenes.
func draw(s scenes) string {
	c := &canvas{y: 10}
	c.messages(s.asking)
	c.between("Ann presses Approve")
	c.messages(s.after)
	c.y += 12
	return c.svg(wide, "A thread: Ann asks Deckhand to survey a source tree; it shows its plan, asks before it writes, and reports")
}

// between tells what a person did.
func (c *canvas) between(what string) {
	c.y += 22
	w := width(what, small, "")
	c.add(`<line class="line" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, margin, c.y, (wide-w)/2-12, c.y)
	c.add(`<line class="line" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, (wide+w)/2+12, c.y, wide-margin, c.y)
	c.text((wide-w)/2, c.y+4, small, "soft", span{text: what})
	c.y += 12
}

// messages are drawn as chats do: several of one author have one head.
func (c *canvas) messages(list []message) {
	for i, m := range list {
		c.y += 12
		switch {
		case m.said != "":
			c.author("person", ann.Name, "")
		case i == 0 || list[i-1].said != "":
			c.author("bot", "Deckhand", "APP")
		default:
			c.y += 6
		}
		c.message(m)
	}
}

// message is what one message says.
func (c *canvas) message(m message) {
	switch {
	case m.said != "":
		c.lines(left, inner, normal, "", []span{{text: m.said}})
		if m.seen {
			c.seen()
		}
	case m.file != "":
		c.upload(m)
	default:
		c.card(m.card)
	}
}

func (c *canvas) card(card bot.Card) {
	var names []string
	for _, who := range card.Mentions {
		names = append(names, named(bot.Mention(who)))
	}
	if len(names) > 0 {
		c.lines(left, inner, normal, "link", []span{{text: strings.Join(names, " ")}})
	}
	for _, p := range card.Parts {
		c.part(p)
	}
}

// author is a message's head: who speaks.
func (c *canvas) author(class, name, badge string) {
	c.rect(class, margin, c.y, 34, 34, 7)
	c.text(margin+17-width(name[:1], 17, "bold")/2, c.y+23, 17, "white", span{name[:1], "bold"})
	c.text(left, c.y+13, normal+0.5, "", span{name, "bold"})
	if badge != "" {
		x := left + width(name, normal+0.5, "bold") + 10
		c.rect("box", x, c.y+1, width(badge, 9.5, "")+10, 15, 3)
		c.text(x+5, c.y+12, 9.5, "soft", span{text: badge})
	}
	c.y += 18
}

// seen is the mark that Deckhand set: eyes.
func (c *canvas) seen() {
	c.y += 6
	c.rect("box", left, c.y, 44, 22, 11)
	for _, x := range []float64{left + 12, left + 21} {
		c.add(`<ellipse cx="%.1f" cy="%.1f" rx="4" ry="5.5" fill="#ffffff" stroke="#8d8d91"/><circle cx="%.1f" cy="%.1f" r="2" fill="#1d1c1d"/>`, x, c.y+11, x+1, c.y+12.5)
	}
	c.text(left+30, c.y+15, small, "soft", span{text: "1"})
	c.y += 24
}

// part is one piece of a card.
func (c *canvas) part(p bot.Part) {
	switch p := p.(type) {
	case bot.Heading:
		c.y += 2
		c.lines(left, inner, normal+1, "", []span{{named(p.Text), "bold"}})
	case bot.Prose:
		c.prose(p.Markdown, normal, "")
	case bot.Tasks:
		c.tasks(p)
	case bot.Facts:
		c.facts(p.List)
	case bot.Code:
		c.code(strings.Split(strings.TrimRight(p.Text, "\n"), "\n"))
	case bot.Small:
		c.prose(p.Markdown, small, "soft")
	case bot.Buttons:
		c.buttons(p.List)
	case bot.Rating:
		c.buttons([]bot.Button{{Label: "Good"}, {Label: "Bad"}})
	}
}

// prose is Markdown; preformatted text in it stands in boxes.
func (c *canvas) prose(markdown string, size float64, class string) {
	c.y += 2
	var box []string
	for _, line := range lines(markdown) {
		if text, is := strings.CutPrefix(line, boxSign); is {
			box = append(box, text)
			continue
		}
		c.code(box)
		box = nil
		c.lines(left, inner, size, class, spans(line))
	}
	c.code(box)
}

// tasks is the plan with a mark for the state of each task.
func (c *canvas) tasks(p bot.Tasks) {
	c.y += 4
	c.lines(left, inner, normal, "", []span{{p.Title, "bold"}})
	for _, t := range p.Items {
		c.y += 3
		c.state(t.State, left+8, c.y+10)
		list := []span{{text: t.Title}}
		if t.Note != "" {
			list = append(list, span{": " + named(t.Note), "soft"})
		}
		c.lines(left+24, inner-24, normal, "", list)
	}
}

// state is a circle: open, half, ticked, crossed.
func (c *canvas) state(s agent.TaskState, x, y float64) {
	switch s {
	case agent.TaskDone:
		c.add(`<circle class="done" cx="%.1f" cy="%.1f" r="6.5"/><path class="tick" stroke-width="1.8" d="M%.1f %.1f l2.4 2.6 l4 -4.8"/>`, x, y, x-3, y)
	case agent.TaskRunning:
		c.add(`<circle class="open" stroke-width="1.4" cx="%.1f" cy="%.1f" r="6"/><path class="busy" d="M%.1f %.1f a6 6 0 0 1 0 12 z"/>`, x, y, x, y-6)
	case agent.TaskFailed, agent.TaskSkipped:
		c.add(`<circle class="failed" cx="%.1f" cy="%.1f" r="6.5"/>`, x, y)
	case agent.TaskPending:
		c.add(`<circle class="open" stroke-width="1.4" cx="%.1f" cy="%.1f" r="6"/>`, x, y)
	}
}

// facts are names with their values, in two columns.
func (c *canvas) facts(list []bot.Fact) {
	column := 0.0
	for _, f := range list {
		column = max(column, width(f.Name, small, "")+18)
	}
	c.y += 3
	for _, f := range list {
		top := c.y
		c.lines(left+column, inner-column, normal-0.5, "", []span{{text: named(f.Value)}})
		c.text(left, top+13.5, small, "soft", span{text: f.Name})
	}
}

// maxBox is how many lines of preformatted text are shown.
const maxBox = 6

// code is text as it stands, in a box. A long one is cut, as platforms do.
func (c *canvas) code(list []string) {
	if len(list) == 0 {
		return
	}
	shown := list[:min(len(list), maxBox)]
	size, step := 12.0, 12*1.4
	high := float64(len(shown))*step + 12
	c.y += 5
	c.rect("box", left, c.y, inner, high, 5)
	for i, line := range shown {
		c.text(left+10, c.y+17+float64(i)*step, size, "code", span{text: format.Cut(line, maxColumns)})
	}
	c.y += high + 2
	if more := len(list) - len(shown); more > 0 {
		c.lines(left, inner, small, "soft", []span{{text: "Show " + format.Count(more, "more line")}})
	}
}

// buttons are what can be pressed. What a person may say in the thread needs none.
func (c *canvas) buttons(list []bot.Button) {
	c.y += 8
	x := left
	for _, b := range list {
		if b.Act == bot.ActSteer {
			continue
		}
		box, ink := "press", ""
		switch b.Style {
		case bot.StylePrimary:
			box, ink = "go", "white"
		case bot.StyleDanger:
			ink = "stop"
		case bot.StylePlain:
		}
		w := width(b.Label, normal-0.5, "bold") + 24
		c.rect(box, x, c.y, w, 28, 5)
		c.text(x+12, c.y+18.5, normal-0.5, ink, span{b.Label, "bold"})
		x += w + 8
	}
	c.y += 30
}

// upload is a file in the thread; pictures show what is in them.
func (c *canvas) upload(m message) {
	c.y += 4
	label := []span{{m.file, "bold"}, {"\u00a0· " + format.Count(m.size, "byte"), "soft"}}
	if filepath.Ext(m.file) != ".png" {
		c.rect("box", left, c.y, 260, 34, 6)
		c.text(left+12, c.y+22, normal-0.5, "", label...)
		c.y += 38
		return
	}
	c.lines(left, inner, normal-0.5, "", label)
	c.y += 4
	shape, err := png.DecodeConfig(bytes.NewReader(m.image))
	if err != nil || shape.Width == 0 {
		return
	}
	w := 300.0
	h := w * float64(shape.Height) / float64(shape.Width)
	c.add(`<image x="%.1f" y="%.1f" width="%.1f" height="%.1f" href="data:image/png;base64,%s"/>`,
		left, c.y, w, h, base64.StdEncoding.EncodeToString(m.image))
	c.y += h + 4
}
