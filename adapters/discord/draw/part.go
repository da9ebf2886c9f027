package draw

// This file writes the parts of a card that are read (headings, prose, plans,
// facts, code, small print) as Discord's Markdown, each within the room left
// for its kind, so that one long part leaves space for the others.

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

func (s *builder) part(part bot.Part) {
	switch p := part.(type) {
	case bot.Heading:
		s.heading(p)
	case bot.Prose:
		s.prose(p)
	case bot.Tasks:
		s.tasks(p)
	case bot.Facts:
		s.facts(p)
	case bot.Code:
		s.code(p)
	case bot.Small:
		s.small(p)
	case bot.Buttons:
		s.buttons(p)
	case bot.Rating:
		s.rating(p)
	}
}

func (s *builder) heading(p bot.Heading) {
	if text := s.line(p.Text, maxHeading); text != "" {
		s.text("### " + text)
	}
}

func (s *builder) prose(p bot.Prose) {
	text, cut := markdown.Head(strings.TrimSpace(p.Markdown), s.room)
	s.cut = s.cut || cut
	shown, more := cutMarkdown(s.withMentions(strings.Join(markdownBlocks(text), "\n\n")), maxAll) // signs that are escaped make it longer
	s.cut = s.cut || more
	s.text(shown)
}

func (s *builder) code(p bot.Code) {
	head, cut := p.Head()
	s.cut = s.cut || cut
	text := strings.TrimRight(s.withNames(head), "\n")
	if Width(text) > s.left.code {
		text = Shortened(text, s.left.code)
		s.cut = true
	}
	s.left.code -= Width(text)
	if strings.TrimSpace(text) != "" {
		s.text(withoutPings(fenced("", text)))
	}
}

// small is subtext: each line of it has a mark of its own.
func (s *builder) small(p bot.Small) {
	text, cut := markdown.Head(strings.TrimSpace(p.Markdown), s.left.small)
	s.cut = s.cut || cut
	s.left.small -= utf8.RuneCountInString(text)
	var lines []string
	for line := range strings.SplitSeq(s.withMentions(strings.Join(markdownBlocks(text), "\n")), "\n") {
		if line = strings.TrimLeft(line, "#> "); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, markdown.Fence) {
			lines = append(lines, "-# "+line)
		}
	}
	s.text(strings.Join(lines, "\n"))
}

func (s *builder) facts(p bot.Facts) {
	list := p.List
	if len(list) > s.left.facts {
		list, s.cut = list[:s.left.facts], true
	}
	s.left.facts -= len(list)
	var lines []string
	for _, f := range list {
		name, value := s.line(f.Name, maxName), s.line(f.Value, maxValue)
		if value == "" {
			value = "–"
		}
		lines = append(lines, strings.TrimSpace(markdown.Around("**", name)+"  "+value))
	}
	s.text(strings.Join(lines, "\n"))
}

// tasks shows a plan as far as there is room, the first tasks of it.
func (s *builder) tasks(p bot.Tasks) {
	items := p.Items
	if len(items) > s.left.tasks {
		items, s.cut = items[:s.left.tasks], true
	}
	left := len(p.Items) - len(items)
	s.left.tasks -= len(items)
	title := s.line(p.Title, maxTitle)
	if title == "" {
		title = "Plan"
	}
	if left > 0 {
		title += " (" + strconv.Itoa(left) + " more tasks are not shown)"
	}
	lines := []string{markdown.Around("**", title)}
	for i, t := range items {
		lines = append(lines, s.taskLine(t, i, p))
	}
	s.text(strings.Join(lines, "\n"))
}

func (s *builder) taskLine(t bot.TaskItem, i int, all bot.Tasks) string {
	title := s.line(t.Title, maxTitle)
	if title == "" {
		title = "Task " + strconv.Itoa(i+1)
	}
	switch t.State {
	case agent.TaskSkipped:
		title = "~~" + title + "~~ (skipped)"
	case agent.TaskRunning:
		title = "**" + title + "**"
	case agent.TaskPending, agent.TaskDone, agent.TaskFailed:
	}
	line := strings.TrimSpace(t.Mark() + " " + title)
	if note := s.taskNote(t, all); note != "" {
		line += " – " + note
	}
	return line
}

// taskNote is what came of a task or, before, which tasks it waits for.
func (s *builder) taskNote(t bot.TaskItem, all bot.Tasks) string {
	if note := s.line(t.Note, maxNote); note != "" || t.State != agent.TaskPending {
		return note
	}
	var names []string
	for _, title := range all.WaitsFor(t) {
		names = append(names, Shortened(format.OneLine(title), 40))
	}
	if len(names) == 0 {
		return ""
	}
	return s.line("after "+strings.Join(names, ", "), maxNote)
}
