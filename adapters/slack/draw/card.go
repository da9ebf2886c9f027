package draw

// This file draws a card as Slack's blocks. Slack limits a message as a
// whole, so the card is drawn again with less room for its parts until it
// fits, and says so where it was shortened.

import (
	"slices"
	"strconv"
	"strings"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// Slack's limits, in characters, and what of them a card uses.
const (
	maxText     = 3000 // the fallback text; Slack takes 40,000 but shows it in one line
	maxBare     = 35000
	maxHeader   = 150
	maxSection  = 3000
	maxField    = 2000
	maxLabel    = 75
	maxTitle    = 250
	maxNote     = 300
	maxFields   = 10
	maxActions  = 25
	maxBlocks   = 50
	maxAll      = 12900 // all blocks together as JSON; Slack counts about 13,200 of their texts
	maxActionID = 255
	maxValue    = 2000
	maxMentions = 40
)

// Drawing says how a card is to be drawn.
//
// A principal within a text becomes "<@U1>" in an edit, since edits notify
// nobody, and only where mrkdwn is read; in a new message, in Markdown blocks
// and in plain text it becomes the name of the person.
type Drawing struct {
	Edit    bool
	Refused map[slackapi.MessageBlockType]bool // kinds of blocks that the workspace does not know
	Name    func(principal string) string      // of a person, as people see it
	Edition string                             // makes the blocks' ids unlike those of the edition before
	More    string                             // where the whole text is: mrkdwn, for a card that was cut
	Link    func(bot.Address) string           // of a message, for browsers; nil: none is known
}

// Message is a card as Slack takes it.
type Message struct {
	Text   string // for notifications and for what shows no blocks
	Blocks []slackapi.Block
	Cut    bool // not everything is shown
}

// Modern are the kinds of blocks that not every workspace knows, and that can be
// drawn in another way.
var Modern = map[slackapi.MessageBlockType]bool{
	slackapi.MBTMarkdown: true, slackapi.MBTPlan: true, slackapi.MBTTaskCard: true,
	slackapi.MBTContextActions: true, slackapi.MBTRichText: true,
}

// MessagesOnly are the kinds of blocks that modals and the home page refuse.
var MessagesOnly = map[slackapi.MessageBlockType]bool{
	slackapi.MBTMarkdown: true, slackapi.MBTPlan: true, slackapi.MBTTaskCard: true, slackapi.MBTContextActions: true,
}

// Card draws a card within all of Slack's limits.
func Card(c bot.Card, d Drawing) Message {
	r := space{prose: 11500, code: 6000, tasks: 50, facts: 50, small: 1900}
	for {
		s := builder{Drawing: d, space: r}
		s.card(c)
		over := max(sizeOf(s.blocks)-maxAll, s.marked-maxMarkdown)
		if over > 0 && r.shrink(over) {
			continue
		}
		s.fit()
		return Message{Text: d.fallback(c), Blocks: s.blocks, Cut: s.cut}
	}
}

// space is how much each kind of part may take.
type space struct{ prose, code, tasks, facts, small int }

// shrink makes room, where it is missed least first. It reports false when
// there is none left to make.
func (r *space) shrink(over int) bool {
	for _, least := range []space{{600, 400, 20, 20, 400}, {100, 100, 5, 5, 100}, {}} {
		switch {
		case r.prose > least.prose:
			r.prose = max(least.prose, r.prose-max(over+50, r.prose/4))
		case r.code > least.code:
			r.code = max(least.code, r.code-max(over+50, r.code/4))
		case r.tasks > least.tasks:
			r.tasks = max(least.tasks, r.tasks*3/4)
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

// builder is a message while it is Message.
type builder struct {
	Drawing
	space  space
	blocks []slackapi.Block
	room   int // for the prose of the part that is drawn
	marked int // characters in Markdown blocks
	cut    bool
}

func (s *builder) card(c bot.Card) {
	if line := mentionLine(c.Mentions); line != "" && !s.Edit {
		s.section(line)
	}
	noted, rooms := false, c.Rooms(s.space.prose)
	for i, p := range c.Parts {
		s.room = rooms[i]
		switch p.(type) {
		case bot.Buttons, bot.Rating:
			noted = s.noteCut(noted)
		default:
		}
		s.part(p)
	}
	s.noteCut(noted)
}

// noteCut says, above what can be clicked, that not everything is shown.
func (s *builder) noteCut(noted bool) bool {
	if noted || !s.cut {
		return noted
	}
	s.context(s.cutNotice())
	return true
}

func (s *builder) cutNotice() string {
	if s.More == "" {
		return "… shortened"
	}
	return "… shortened; the whole text is in the file " + s.More
}

// fit takes blocks away, from the end, until the rest fits; what can be clicked
// goes last.
func (s *builder) fit() {
	for len(s.blocks) > maxBlocks || sizeOf(s.blocks) > maxAll {
		if !s.cut {
			s.cut = true
			s.context(s.cutNotice())
		}
		at := len(s.blocks) - 1
		for i, b := range slices.Backward(s.blocks) {
			kind := b.BlockType()
			if i > 0 && kind != slackapi.MBTAction && kind != slackapi.MBTContextActions && !s.isCutNotice(b) {
				at = i
				break
			}
		}
		s.blocks = slices.Delete(s.blocks, at, at+1)
	}
}

func (s *builder) isCutNotice(b slackapi.Block) bool {
	c, is := b.(*slackapi.ContextBlock)
	if !is || len(c.ContextElements.Elements) == 0 {
		return false
	}
	t, is := c.ContextElements.Elements[0].(*slackapi.TextBlockObject)
	return is && t.Text == s.cutNotice()
}

// id is the id of the next block.
func (s *builder) id() string { return s.Edition + "-" + strconv.Itoa(len(s.blocks)) }

func (s *builder) add(b slackapi.Block) { s.blocks = append(s.blocks, b) }

// section shows mrkdwn.
func (s *builder) section(text string) {
	if strings.TrimSpace(text) != "" {
		s.add(slackapi.NewSectionBlock(mrkdwnText(text), nil, nil, slackapi.SectionBlockOptionBlockID(s.id())))
	}
}

// context shows mrkdwn of lesser weight.
func (s *builder) context(text string) {
	if strings.TrimSpace(text) != "" {
		s.add(slackapi.NewContextBlock(s.id(), mrkdwnText(text)))
	}
}

// mrkdwnText is verbatim: Slack is not to find names and channels by itself.
func mrkdwnText(text string) *slackapi.TextBlockObject {
	return slackapi.NewTextBlockObject(slackapi.MarkdownType, text, false, true)
}

// plainText is never empty: Slack refuses that.
func plainText(text string, most int) *slackapi.TextBlockObject {
	text = format.Cut(WithoutPings(format.Line(text, most)), most)
	if text == "" {
		text = "–"
	}
	return slackapi.NewTextBlockObject(slackapi.PlainTextType, text, false, false)
}
