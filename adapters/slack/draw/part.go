package draw

// This file draws the parts of a card that are read: headings, prose, plans,
// facts, code, small print. Where a workspace refuses Slack's newer blocks
// for them, it writes the same content as mrkdwn.

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

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
	if text := s.Named(p.Text); strings.TrimSpace(text) != "" {
		s.add(slackapi.NewHeaderBlock(plainText(text, maxHeader), slackapi.HeaderBlockOptionBlockID(s.id())))
	}
}

func (s *builder) prose(p bot.Prose) {
	text, cut := markdown.Head(strings.TrimSpace(p.Markdown), s.room)
	s.cut = s.cut || cut
	if strings.TrimSpace(text) == "" {
		return
	}
	if !s.Refused[slackapi.MBTMarkdown] && !refersOn(text) && markdown.Plain(text) {
		text = s.markdown(text)
		s.marked += utf8.RuneCountInString(text)
		s.add(slackapi.NewMarkdownBlock(s.id(), text))
		return
	}
	for _, part := range pack(s.pieces(text), maxSection) {
		s.section(s.people(part))
	}
}

const maxMarkdown = 12000

func (s *builder) code(p bot.Code) {
	head, cut := p.Head()
	s.cut = s.cut || cut
	text := strings.TrimRight(s.Named(head), "\n")
	if n := utf8.RuneCountInString(text); n > s.space.code {
		text = format.Cut(text, s.space.code)
		s.cut = true
	}
	s.space.code -= utf8.RuneCountInString(text)
	switch {
	case strings.TrimSpace(text) == "":
	case s.Refused[slackapi.MBTRichText]:
		for _, part := range pack([]string{preformatted(text)}, maxSection) {
			s.section(part)
		}
	default:
		s.add(slackapi.NewRichTextBlock(s.id(), &slackapi.RichTextPreformatted{Type: slackapi.RTEPreformatted, Elements: richText(text).Elements}))
	}
}

func richText(text string) *slackapi.RichTextSection {
	return slackapi.NewRichTextSection(slackapi.NewRichTextSectionTextElement(WithoutPings(text), nil))
}

func (s *builder) small(p bot.Small) {
	text, cut := markdown.Head(p.Markdown, s.space.small)
	texts := pack(s.pieces(text), maxSection)
	s.cut = s.cut || cut || len(texts) > 1
	if len(texts) == 0 {
		return
	}
	s.context(s.people(texts[0]))
}

func (s *builder) facts(p bot.Facts) {
	list := p.List
	if len(list) > s.space.facts {
		list, s.cut = list[:s.space.facts], true
	}
	s.space.facts -= len(list)
	for some := range slices.Chunk(list, maxFields) {
		var fields []*slackapi.TextBlockObject
		for _, f := range some {
			name, value := s.line(f.Name, maxLabel), s.line(f.Value, maxField/10)
			if value == "" {
				value = "–"
			}
			fields = append(fields, mrkdwnText(strings.TrimPrefix(markdown.Around("*", name)+"\n"+value, "\n")))
		}
		s.add(slackapi.NewSectionBlock(nil, fields, nil, slackapi.SectionBlockOptionBlockID(s.id())))
	}
}

var taskStatus = map[agent.TaskState]slackapi.TaskCardStatus{
	agent.TaskPending: slackapi.TaskCardStatusPending, agent.TaskRunning: slackapi.TaskCardStatusInProgress,
	agent.TaskDone: slackapi.TaskCardStatusComplete, agent.TaskFailed: slackapi.TaskCardStatusError,
	agent.TaskSkipped: slackapi.TaskCardStatusComplete,
}

// tasks shows a plan as far as there is room, the first tasks of it.
func (s *builder) tasks(p bot.Tasks) {
	items := p.Items
	if len(items) > s.space.tasks {
		items, s.cut = items[:s.space.tasks], true
	}
	left := len(p.Items) - len(items)
	s.space.tasks -= len(items)
	title := format.Cut(strings.TrimSpace(s.Named(p.Title)), maxTitle)
	if title == "" {
		title = "Plan"
	}
	if left > 0 {
		title += " (" + strconv.Itoa(left) + " more tasks are not shown)"
	}
	if s.Refused[slackapi.MBTPlan] || s.Refused[slackapi.MBTTaskCard] {
		s.taskLines(title, items)
		return
	}
	plan := slackapi.NewPlanBlock(WithoutPings(title), slackapi.PlanBlockOptionBlockID(s.id()))
	var cards []*slackapi.TaskCardBlock
	ids := map[string]bool{}
	for i, t := range items {
		id := format.Cut(t.ID, 100)
		if id == "" || ids[id] {
			id = "task-" + strconv.Itoa(i+1)
		}
		ids[id] = true
		card := slackapi.NewTaskCardBlock(id, s.taskTitle(t, i))
		if status, known := taskStatus[t.State]; known {
			card = card.WithStatus(status)
		}
		if note := s.taskNote(t, p); note != "" {
			card = card.WithDetails(slackapi.NewRichTextBlock("", richText(note)))
		}
		cards = append(cards, card)
	}
	s.add(plan.WithTasks(cards...))
}

func (s *builder) taskTitle(t bot.TaskItem, i int) string {
	title := format.Cut(WithoutPings(strings.Join(strings.Fields(s.Named(t.Title)), " ")), maxTitle)
	if title == "" {
		title = "Task " + strconv.Itoa(i+1)
	}
	if t.State == agent.TaskSkipped {
		title += " (skipped)"
	}
	return title
}

// taskNote is what came of a task or, before, which tasks it waits for.
func (s *builder) taskNote(t bot.TaskItem, all bot.Tasks) string {
	if note := strings.TrimSpace(s.Named(t.Note)); note != "" || t.State != agent.TaskPending {
		return format.Cut(note, maxNote)
	}
	var names []string
	for _, title := range all.WaitsFor(t) {
		names = append(names, format.Cut(strings.TrimSpace(s.Named(title)), 60))
	}
	if len(names) == 0 {
		return ""
	}
	return format.Cut("after "+strings.Join(names, ", "), maxNote)
}

// taskLines is a plan for a workspace that knows no plans.
func (s *builder) taskLines(title string, items []bot.TaskItem) {
	text := markdown.Around("*", escape(title))
	lines := []string{text}
	for i, t := range items {
		line := strings.TrimSpace(t.Mark() + " " + escape(s.taskTitle(t, i)))
		if note := s.taskNote(t, bot.Tasks{Items: items}); note != "" {
			line += " – " + escape(strings.Join(strings.Fields(note), " "))
		}
		lines = append(lines, line)
	}
	for _, part := range split(strings.Join(lines, "\n"), maxSection) {
		s.section(part)
	}
}
