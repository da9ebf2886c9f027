package discord

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

func (s *sheet) part(part bot.Part) {
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

func (s *sheet) heading(p bot.Heading) {
	if text := s.line(p.Text, maxHeading); text != "" {
		s.text("### " + text)
	}
}

// prose takes what room the prose before it left.
func (s *sheet) prose(p bot.Prose) {
	text, cut := markdown.Head(strings.TrimSpace(p.Markdown), s.room.prose)
	s.cut = s.cut || cut
	s.room.prose -= utf8.RuneCountInString(text)
	shown, more := first(s.people(strings.Join(markdownBlocks(text), "\n\n")), maxAll) // signs that are escaped make it longer
	s.cut = s.cut || more
	s.text(shown)
}

func (s *sheet) code(p bot.Code) {
	text := strings.TrimRight(s.named(p.Text), "\n")
	if width(text) > s.room.code {
		text = shortened(text, s.room.code)
		s.cut = true
	}
	s.room.code -= width(text)
	if strings.TrimSpace(text) != "" {
		s.text(withoutPings(fenced("", text)))
	}
}

// small is subtext: each line of it has a mark of its own.
func (s *sheet) small(p bot.Small) {
	text, cut := markdown.Head(strings.TrimSpace(p.Markdown), s.room.small)
	s.cut = s.cut || cut
	s.room.small -= utf8.RuneCountInString(text)
	var lines []string
	for line := range strings.SplitSeq(s.people(strings.Join(markdownBlocks(text), "\n")), "\n") {
		if line = strings.TrimLeft(line, "#> "); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, markdown.Fence) {
			lines = append(lines, "-# "+line)
		}
	}
	s.text(strings.Join(lines, "\n"))
}

func (s *sheet) facts(p bot.Facts) {
	list := p.List
	if len(list) > s.room.facts {
		list, s.cut = list[:s.room.facts], true
	}
	s.room.facts -= len(list)
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

var taskMark = map[agent.TaskState]string{
	agent.TaskPending: "⚪", agent.TaskRunning: "🔵", agent.TaskDone: "✅", agent.TaskFailed: "❌", agent.TaskSkipped: "➖",
}

// tasks shows a plan as far as there is room, the first tasks of it.
func (s *sheet) tasks(p bot.Tasks) {
	items := p.Items
	if len(items) > s.room.tasks {
		items, s.cut = items[:s.room.tasks], true
	}
	left := len(p.Items) - len(items)
	s.room.tasks -= len(items)
	title := s.line(p.Title, maxTitle)
	if title == "" {
		title = "Plan"
	}
	if left > 0 {
		title += " (" + strconv.Itoa(left) + " more tasks are not shown)"
	}
	lines := []string{markdown.Around("**", title)}
	for i, t := range items {
		lines = append(lines, s.taskLine(t, i, p.Items))
	}
	s.text(strings.Join(lines, "\n"))
}

func (s *sheet) taskLine(t bot.TaskItem, i int, all []bot.TaskItem) string {
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
	line := strings.TrimSpace(taskMark[t.State] + " " + title)
	if note := s.taskNote(t, all); note != "" {
		line += " – " + note
	}
	return line
}

// taskNote is what came of a task or, before, which tasks it waits for.
func (s *sheet) taskNote(t bot.TaskItem, all []bot.TaskItem) string {
	if note := s.line(t.Note, maxNote); note != "" || t.State != agent.TaskPending {
		return note
	}
	var names []string
	for _, id := range t.After {
		for _, other := range all {
			if other.ID == id && other.State != agent.TaskDone {
				names = append(names, shortened(format.OneLine(other.Title), 40))
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return s.line("after "+strings.Join(names, ", "), maxNote)
}
