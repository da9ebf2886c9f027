package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// How often the live view is drawn at most, and its clock at least.
const (
	drawEvery  = 100 * time.Millisecond
	clockEvery = time.Second
)

// fewestLines of a text in a question are shown in the smallest terminal.
const fewestLines = 6

// live draws what happens now at the bottom of a terminal, and lets what
// happened scroll away above it.
type live struct {
	telling  bot.Telling
	out      io.Writer
	colour   bool
	width    func() int
	height   func() int
	asked    agent.CheckpointID // whose question was printed last
	drawn    []row              // the block on the screen, top to bottom
	above    []row              // what is to be printed above it
	at       time.Time          // of the last drawing
	typing   string             // the line that was begun, as drawn
	torn     bool               // the screen does not show the block
	fencedBy string             // the mark that closes the code block being printed
}

func newLive(c Config) *live {
	l := &live{telling: c.Telling, out: c.Out, colour: c.Color, width: c.Width, height: c.Height, torn: true}
	if l.width == nil {
		l.width = func() int { return 0 }
	}
	if l.height == nil {
		l.height = heightOf(c.Out)
	}
	return l
}

// heightOf asks the terminal that is written to; 0 where it is none.
func heightOf(out io.Writer) func() int {
	return func() int {
		f, isFile := out.(*os.File)
		if !isFile {
			return 0
		}
		_, rows, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return rows
	}
}

// size is the terminal's, with the usual one where it is not known.
func (l *live) size() (columns, rows int) {
	columns, rows = l.width(), l.height()
	if columns <= 0 {
		columns = 80
	}
	if rows <= 0 {
		rows = 24
	}
	return max(columns, 20), rows
}

func (l *live) begin(r agent.Run)  { l.show(standing(l.telling, r, time.Now())) }
func (l *live) notice(text string) { l.show([]row{{in(yellow, "! "+oneLine(text))}}) }
func (l *live) show(rows []row)    { l.above = append(l.above, rows...) }

func (l *live) event(before, after agent.Run, e agent.Event) {
	l.show(news(l.telling, before, after, e, false))
}

// typed accounts for a line that the terminal echoed below the block.
func (l *live) typed(line string) {
	if n := len(l.drawn); n > 0 {
		l.drawn[n-1] = append(l.drawn[n-1], in(normal, line))
		l.drawn = append(l.drawn, nil)
		l.torn = true
	}
}

// refresh draws when something changed, at most ten times a second, and once a
// second for the clock while something executes.
func (l *live) refresh(r agent.Run, d dialogue, now time.Time) time.Duration {
	if c := current(r); c != nil && c.ID != l.asked {
		l.asked = c.ID
		_, height := l.size()
		l.show(questionOf(max(fewestLines, height-17)).card(l.telling.Question(r, *c, now)))
	}
	columns, _ := l.size()
	block := l.block(r, d, now)
	for i := range block {
		block[i] = block[i].clip(columns - 1)
	}
	var again time.Duration
	if r.State() == agent.RunRunning {
		again = clockEvery
	}
	if len(l.above) == 0 && !l.torn && same(block, l.drawn) {
		return again
	}
	if pause := drawEvery - now.Sub(l.at); pause > 0 && r.Ended == nil && l.typing == d.typed { // keys are echoed at once
		return pause
	}
	l.draw(block, columns)
	l.at, l.typing = now, d.typed
	return again
}

// block is the live view: the plan with what is being done, or what may be
// answered; then one row of figures and the line that is being typed.
func (l *live) block(r agent.Run, d dialogue, now time.Time) []row {
	if r.Ended != nil || r.Started.IsZero() {
		return nil
	}
	columns, height := l.size()
	card := l.telling.Live(r, moment(r, now))
	var rows []row
	switch c := current(r); {
	case c != nil && d.sent == c.ID:
		rows = append(rows, row{in(dim, "  sent")})
	case several(c):
		for _, q := range c.Questions {
			if a := d.answers[q.ID]; a != "" && d.check == c.ID {
				rows = append(rows, row{in(dim, "  "+oneLine(q.Question)+" → "), in(normal, a)})
			}
		}
		if q, n := d.next(c); q != nil {
			rows = append(rows, row{in(cyan, fmt.Sprintf("question %d of %d", n, len(c.Questions)))})
			rows = append(rows, point(*q)...)
		}
		rows = append(rows, row{in(cyan, `  type your answer, "decide for me", "cancel"`)})
	case c != nil:
		rows = append(rows, choices(*c).wrap(columns-1, "  ")...)
	default:
		rows = append(append(rows, nil), planRows(card, "", max(3, min(20, height-7)))...)
		if working(r) == 0 {
			rows = append(rows, headline(card)...)
		}
	}
	return append(rows, footer(r, card), row{in(cyan, "> "), in(normal, d.typed)})
}

func same(a, b []row) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].paint(true) != b[i].paint(true) {
			return false
		}
	}
	return true
}

// draw replaces the block on the screen, in one write: what stays is printed
// where the block began, and the new block under it.
func (l *live) draw(block []row, columns int) {
	var b strings.Builder
	l.erase(&b, columns)
	l.fencedBy = ""
	for _, r := range l.above {
		for _, part := range l.fold(r, columns-1) {
			b.WriteString(part.paint(l.colour) + "\n")
		}
	}
	for i, r := range block {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(r.paint(l.colour))
	}
	l.above, l.drawn, l.torn = nil, block, false
	fmt.Fprint(l.out, b.String())
}

// erase moves to the first row of the block and clears from there on. In a
// terminal that was made narrower, rows of the block take several lines.
func (l *live) erase(b *strings.Builder, columns int) {
	up := -1
	for _, r := range l.drawn {
		up += max(1, (r.wide()+columns-1)/columns)
	}
	if up > 0 {
		fmt.Fprintf(b, "\x1b[%dA", up)
	}
	if up >= 0 {
		b.WriteString("\r\x1b[J")
	}
}

// fold wraps a row under its own indentation. Tables and code keep their lines.
func (l *live) fold(r row, columns int) []row {
	text := r.paint(false)
	trimmed := strings.TrimLeft(text, " ")
	if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		mark := trimmed[:3]
		switch l.fencedBy {
		case "":
			l.fencedBy = mark
		case mark:
			l.fencedBy = ""
		}
		return []row{r}
	}
	if l.fencedBy != "" || strings.HasPrefix(trimmed, "|") {
		return []row{r}
	}
	indent := text[:len(text)-len(trimmed)]
	if first := []rune(trimmed); len(first) > 1 && first[1] == ' ' && !unicode.IsLetter(first[0]) {
		indent += "  " // a mark of ours, or of a list
	}
	if len(r) > 1 && strings.HasSuffix(r[0].text, ": ") {
		indent += "  " // a label
	}
	return r.wrap(columns, head(indent, columns/2))
}

// suspend takes the block away, so that others may write.
func (l *live) suspend() {
	columns, _ := l.size()
	l.draw(nil, columns)
	l.torn = true
}

// close leaves the last state on the screen, without the line for typing.
func (l *live) close(r agent.Run) {
	columns, _ := l.size()
	block := l.block(r, dialogue{}, time.Now())
	if n := len(block); n > 0 {
		block = block[:n-1]
	}
	for i := range block {
		block[i] = block[i].clip(columns - 1)
	}
	l.draw(block, columns)
	if len(block) > 0 {
		fmt.Fprintln(l.out)
	}
}
