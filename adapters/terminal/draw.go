package terminal

// This file draws cards and news as rows of text. What they say is bot/card's;
// here is only where it stands on a line and in which ink.

import (
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// drawing is a way to draw cards.
type drawing struct {
	mark span   // before a heading
	lead string // before every row but headings
	airy bool   // an empty row before headings and texts
	most int    // lines of one text that are shown, 0: all of them
}

// The ways: a report or a status that is read on its own, and a question, of
// whose texts the beginning is shown so that its heading stays on the screen.
var page = drawing{airy: true}

func questionOf(most int) drawing {
	return drawing{mark: span{"? ", yellow}, lead: "  ", most: most}
}

// card draws the parts of a card from top to bottom.
func (d drawing) card(c bot.Card) []row {
	c = c.Reworded(local)
	var rows []row
	before := false // whether the part above is fine print, too
	for _, p := range c.Parts {
		drawn, fine := d.part(p), finePrint(p)
		if fine && !before && len(rows) > 0 {
			drawn = d.apart(drawn)
		}
		rows, before = append(rows, drawn...), fine
	}
	return rows
}

// finePrint reports whether parts of the kind stand together without empty rows.
func finePrint(p bot.Part) bool {
	switch p.(type) {
	case bot.Small, bot.Facts:
		return true
	case bot.Heading, bot.Prose, bot.Code, bot.Tasks, bot.Buttons, bot.Rating:
	}
	return false
}

func (d drawing) part(p bot.Part) []row {
	switch p := p.(type) {
	case bot.Heading:
		return []row{nil, {d.mark, in(bold, p.Text)}}
	case bot.Prose:
		return d.apart(d.text(p.Markdown, normal))
	case bot.Small:
		return d.text(p.Markdown, dim)
	case bot.Code:
		return d.shorten(d.lead+"  ", lines(p.Text), normal)
	case bot.Facts:
		var rows []row
		for _, f := range p.List {
			rows = append(rows, d.fact(f)...)
		}
		return rows
	case bot.Tasks:
		return d.apart(append([]row{{in(bold, d.lead+p.Title)}}, tree(p, d.lead, 0)...))
	case bot.Buttons:
		return d.numbered(p)
	case bot.Rating:
	}
	return nil
}

// apart sets rows off from those before them, where there is room for it.
func (d drawing) apart(rows []row) []row {
	if !d.airy || len(rows) == 0 {
		return rows
	}
	return append([]row{nil}, rows...)
}

// fact is a name and its value. The further lines of a value stand under it.
func (d drawing) fact(f bot.Fact) []row {
	name := d.lead + f.Name + ": "
	all := lines(f.Value)
	if len(all) == 0 {
		return []row{{in(dim, strings.TrimRight(name, " "))}}
	}
	rows := []row{{in(dim, name), in(normal, all[0])}}
	return append(rows, d.shorten(strings.Repeat(" ", columns(clean(name))), all[1:], normal)...)
}

// numbered are the buttons that carry a choice's text. It is chosen by its
// number; what else may be typed stands in the row of choices.
func (d drawing) numbered(b bot.Buttons) []row {
	var rows []row
	for _, button := range b.List {
		word := button.Word[strings.LastIndexByte(button.Word, '=')+1:]
		if button.Act == bot.ActDecide && strings.Trim(word, "0123456789") == "" {
			rows = append(rows, row{in(cyan, d.lead+"["+word+"] "), in(normal, button.Label)})
		}
	}
	return rows
}

// strong stands around bold text until the rows are made. Texts cannot hold
// it: clean writes private characters out.
const strong = "\ue010"

// dialect is Markdown as plain text.
var dialect = markdown.Dialect{
	Strong: strong, Bullet: "- ", BulletIndent: "  ", NumberIndent: "   ",
	Text: clean,
	Code: clean,
	Link: func(target, label string) string {
		if label == target || label == "" {
			return clean(target)
		}
		return clean(label) + " (" + clean(target) + ")"
	},
	Heading:   func(_ int, title string) string { return strong + strings.ReplaceAll(title, strong, "") + strong },
	Paragraph: func(text string) string { return text },
	Fenced: func(language, text string) string {
		all := strings.Split(strings.TrimRight(text, "\n"), "\n")
		for i := range all {
			all[i] = clean(all[i])
		}
		return "```" + clean(language) + "\n" + strings.Join(all, "\n") + "\n```"
	},
}

// local is a text with its moments in this machine's zone. A principal stands as
// it is written in the configuration, and a place by its address.
func local(text string) string {
	return bot.Refer(text, func(r bot.Ref) string {
		switch {
		case r.Person != "":
			return r.Person
		case r.At.IsZero():
			return strings.TrimSuffix(r.Place.String(), ":")
		}
		return r.At.Local().Format(r.Form.Layout())
	})
}

// text draws Markdown.
func (d drawing) text(document string, i ink) []row {
	document = local(document)
	var b strings.Builder
	for _, block := range dialect.Blocks(document) {
		switch {
		case b.Len() == 0:
		case strings.HasPrefix(block, dialect.Bullet):
			b.WriteString("\n")
		default:
			b.WriteString("\n\n")
		}
		b.WriteString(block)
	}
	if b.Len() == 0 {
		return nil
	}
	return d.shorten(d.lead, strings.Split(b.String(), "\n"), i)
}

// shorten draws the lines of one text, or the first ones and how many more
// there are. A fence that was opened is closed.
func (d drawing) shorten(lead string, all []string, i ink) []row {
	keep := len(all)
	if d.most > 0 && keep > d.most {
		keep = d.most - 1
	}
	var rows []row
	fences := 0
	for _, line := range all[:keep] {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fences++
		}
		rows = append(rows, inked(lead, line, i))
	}
	if more := len(all) - keep; more > 0 {
		if fences%2 == 1 {
			rows = append(rows, say(lead+"```"))
		}
		rows = append(rows, row{in(yellow, fmt.Sprintf("%s… %s; ? shows them", lead, format.Count(more, "more line")))})
	}
	return rows
}

// inked is one line whose strong parts are bold.
func inked(lead, line string, i ink) row {
	r := row{in(i, lead)}
	for n, part := range strings.Split(line, strong) {
		if part == "" {
			continue
		}
		if n%2 == 1 {
			r = append(r, in(bold, part))
		} else {
			r = append(r, in(i, part))
		}
	}
	return r
}

// tones are the marks before news.
var tones = map[bot.Tone]span{
	bot.ToneQuiet: {"  ", dim}, bot.TonePerson: {"› ", cyan}, bot.ToneNotice: {"! ", yellow},
	bot.ToneProblem: {"✗ ", red}, bot.ToneDeclined: {"– ", yellow},
}

// told draws a line of news.
func told(n bot.News) row {
	n.About, n.Text = local(n.About), local(n.Text)
	r := row{tones[n.Tone]}
	about, text := bold, normal
	switch n.Tone {
	case bot.ToneTask:
		r = row{markOf(n.State), {" ", normal}}
	case bot.ToneQuiet:
		about, text = dim, dim
	case bot.TonePerson:
		about = normal
	case bot.TonePlain, bot.ToneNotice, bot.ToneProblem, bot.ToneDeclined:
	}
	switch {
	case n.About == "":
		return append(r, in(text, oneLine(n.Text)))
	case n.Text == "":
		return append(r, in(about, oneLine(n.About)))
	case n.Tone == bot.TonePlain:
		return append(r, in(about, oneLine(n.About)+" "), in(text, oneLine(n.Text)))
	}
	return append(r, in(about, oneLine(n.About)+": "), in(text, oneLine(n.Text)))
}

// standing draws where a run stands, in full: what it is about, and its card or
// its report.
func standing(t bot.Telling, r agent.Run, now time.Time) []row {
	rows := drawing{}.card(t.Brief(r))
	if r.Ended != nil {
		return append(rows, page.card(t.Report(r))...)
	}
	c := t.Live(r, moment(r, now))
	if len(c.Parts) > 0 { // the heading is the goal, which stands above
		c.Parts = c.Parts[1:]
	}
	return append(rows, page.card(c)...)
}

// moment is now while a run works, else when it last did: its figures stand
// still while it waits.
func moment(r agent.Run, now time.Time) time.Time {
	if r.State() == agent.RunRunning {
		return now
	}
	return r.Last
}

// news draws what an event means to people, and a card where it has one. With
// all set, the steps of the work are told too: that is for output without a
// live view.
func news(t bot.Telling, before, after agent.Run, e agent.Event, all bool) []row {
	switch e.Body.(type) { //nolint:gochecksumtype // the others are told by bot.Telling
	case agent.RunStarted:
		return drawing{}.card(t.Brief(after))
	case agent.RunEnded:
		return page.card(t.Report(after))
	}
	var rows []row
	for _, n := range t.News(before, after, e) {
		if all || !n.Step {
			rows = append(rows, told(n))
		}
	}
	return rows
}

// planRows is the plan of a live card under its title, nothing before there is one.
func planRows(c bot.Card, lead string, most int) []row {
	for _, p := range c.Parts {
		if list, is := p.(bot.Tasks); is {
			return append([]row{{in(bold, lead+list.Title)}}, tree(list, lead, most)...)
		}
	}
	return nil
}

// headline is the line of a live card that says what happens now.
func headline(c bot.Card) []row {
	for _, p := range c.Parts {
		if line, is := p.(bot.Prose); is {
			return drawing{}.text(line.Markdown, normal)
		}
	}
	return nil
}

// footer is one row of figures: the run's state and what its card says of it.
func footer(r agent.Run, c bot.Card) row {
	words := []string{string(r.State())}
	for _, p := range c.Parts {
		if facts, is := p.(bot.Facts); is {
			for _, f := range facts.List {
				words = append(words, strings.ToLower(f.Name)+" "+local(f.Value))
			}
		}
	}
	return row{in(dim, strings.Join(words, " · "))}
}

// working is how many tasks are at work.
func working(r agent.Run) int {
	n := 0
	for _, t := range r.Tasks {
		if t.State == agent.TaskRunning {
			n++
		}
	}
	return n
}
