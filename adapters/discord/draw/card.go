package draw

import (
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

// Discord's limits, texts in characters, and what of them a card uses.
const (
	maxHeading  = 200
	maxLabel    = 80
	MaxOption   = 100
	maxTitle    = 200
	maxNote     = 200
	maxName     = 80  // of a fact
	maxValue    = 300 // of a fact
	maxRow      = 5   // buttons in a row
	maxButtons  = 10  // of one part; more are a menu
	MaxOptions  = 25
	maxMenus    = 5
	maxBlocks   = 40
	maxAll      = 4000 // all texts of a message together
	maxMentions = 40
	maxContent  = 2000
)

// Block is one component of a message.
type Block struct {
	Type        discordgo.ComponentType `json:"type"`
	ID          int64                   `json:"id,omitempty"`
	Content     string                  `json:"content,omitempty"`
	Style       discordgo.ButtonStyle   `json:"style,omitempty"`
	Label       string                  `json:"label,omitempty"`
	CustomID    string                  `json:"custom_id,omitempty"`
	Placeholder string                  `json:"placeholder,omitempty"`
	Options     []option                `json:"options,omitempty"`
	File        *media                  `json:"file,omitempty"`
	Blocks      []Block                 `json:"components,omitempty"`
}

type option struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

type media struct {
	URL string `json:"url"`
}

// Options says how a card is to be drawn. A principal within a text becomes
// "<@1>", which notifies nobody since the message's allowed mentions do not
// hold it; where Discord reads no mentions it becomes the principal's name.
type Options struct {
	Edit bool
	File string // the name of the file with the whole text, for a card that was cut
	name func(principal string) string
}

// Drawing is a card as Discord takes it: blocks within one container, without it.
type Drawing struct {
	mentions []string // what notifies, "<@1>", empty in an edit
	blocks   []Block
	Cut      bool // not everything is shown
}

// Card draws a card within all of Discord's limits.
func Card(c bot.Card, d Options) Drawing {
	r := budget{prose: 3800, code: 2500, tasks: 60, facts: 40, small: 1500}
	for {
		s := builder{Options: d, left: r, ids: map[string]bool{}}
		s.card(c)
		if over := textOf(s.blocks) - maxAll; over > 0 && r.shrink(over) {
			continue
		}
		s.fit()
		return Drawing{mentions: s.mentions, blocks: s.blocks, Cut: s.cut}
	}
}

// budget is how much each kind of part may take.
type budget struct{ prose, code, tasks, facts, small int }

// shrink makes room, where it is missed least first. It reports false when
// there is none left to make.
func (r *budget) shrink(over int) bool {
	for _, least := range []budget{{500, 300, 15, 10, 300}, {100, 100, 5, 5, 100}, {}} {
		switch {
		case r.prose > least.prose:
			r.prose = max(least.prose, r.prose-max(over/2, 60))
		case r.code > least.code:
			r.code = max(least.code, r.code-max(over/2, 60))
		case r.tasks > least.tasks:
			r.tasks = max(least.tasks, r.tasks*4/5)
		case r.small > least.small:
			r.small = max(least.small, r.small*3/4)
		case r.facts > least.facts:
			r.facts = max(least.facts, r.facts*3/4)
		default:
			continue
		}
		return true
	}
	return false
}

// builder is a message while it is drawn.
type builder struct {
	Options
	left     budget
	room     int // for the prose of the part that is drawn
	mentions []string
	blocks   []Block
	ids      map[string]bool // custom ids that are taken
	cut      bool
	noticed  bool
}

func (s *builder) card(c bot.Card) {
	if s.mentions = mentionsOf(c.Mentions); s.Edit {
		s.mentions = nil
	}
	s.text(strings.Join(s.mentions, " "))
	rooms := c.Rooms(s.left.prose)
	for i, p := range c.Parts {
		s.room = rooms[i]
		switch p.(type) {
		case bot.Buttons, bot.Rating:
			s.noteCut()
		default:
		}
		s.part(p)
	}
	s.noteCut()
	if textOf(s.blocks) == 0 {
		s.blocks = append([]Block{{Type: discordgo.TextDisplayComponent, Content: s.line(oneLine(c), maxHeading)}}, s.blocks...)
	}
}

// noteCut says, above what can be clicked, that not everything is shown.
func (s *builder) noteCut() {
	if s.noticed || !s.cut {
		return
	}
	s.noticed = true
	s.blocks = append(s.blocks, s.cutNotice()...)
}

func (s *builder) cutNotice() []Block {
	if s.File == "" {
		return []Block{{Type: discordgo.TextDisplayComponent, Content: "-# … shortened"}}
	}
	return []Block{
		{Type: discordgo.TextDisplayComponent, Content: "-# … shortened; the whole text is in the file " + escapeMarkdown(s.File)},
		{Type: discordgo.FileComponentType, File: &media{URL: "attachment://" + s.File}},
	}
}

// fit joins texts, and then takes blocks away from the end until the rest fits;
// what can be clicked goes last.
func (s *builder) fit() {
	if countOf(s.blocks) > maxBlocks {
		s.blocks = joinTexts(s.blocks)
	}
	for countOf(s.blocks) > maxBlocks || textOf(s.blocks) > maxAll {
		s.cut = true
		s.noteCut()
		at := s.least()
		s.blocks = slices.Delete(s.blocks, at, at+1)
	}
}

// least is the block that is missed least: the last that is not the first, the
// notice, or what can be clicked, if there is such a one.
func (s *builder) least() int {
	notice := s.cutNotice()[0].Content
	for _, clicks := range []bool{false, true} {
		for i, b := range slices.Backward(s.blocks) {
			if i > 0 && b.Type != discordgo.FileComponentType && b.Content != notice && (clicks || b.Type != discordgo.ActionsRowComponent) {
				return i
			}
		}
	}
	return 0
}

// joinTexts makes one text of those that follow each other.
func joinTexts(list []Block) []Block {
	var out []Block
	for _, b := range list {
		if n := len(out); n > 0 && b.Type == discordgo.TextDisplayComponent && out[n-1].Type == discordgo.TextDisplayComponent {
			out[n-1].Content += "\n" + b.Content
			continue
		}
		out = append(out, b)
	}
	return out
}

// countOf is how many components there are, the container around them included.
func countOf(list []Block) int {
	n := 1
	for _, b := range list {
		n += 1 + len(b.Blocks)
	}
	return n
}

// textOf is the length of all texts together.
func textOf(list []Block) int {
	n := 0
	for _, b := range list {
		n += Width(b.Content)
	}
	return n
}

// text shows Discord's Markdown.
func (s *builder) text(content string) {
	if strings.TrimSpace(content) != "" {
		s.blocks = append(s.blocks, Block{Type: discordgo.TextDisplayComponent, Content: content})
	}
}
