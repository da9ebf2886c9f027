package draw

import (
	"strings"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// buttons shows buttons in rows; one row has at most 25, and no two that mean
// the same of different things, since an action's id stands in a row once.
func (s *builder) buttons(p bot.Buttons) {
	var row []slackapi.BlockElement
	ids := map[string]bool{}
	end := func() {
		if len(row) > 0 {
			s.add(slackapi.NewActionBlock(s.id(), row...))
		}
		row, ids = nil, map[string]bool{}
	}
	for _, b := range p.List {
		if b.Act == bot.ActSteer {
			continue // people write in the thread, and the bot reads it
		}
		id := wire.ButtonID(b)
		if utf8.RuneCountInString(id) > maxActionID || utf8.RuneCountInString(b.ID) > maxValue {
			s.cut = true // no button of the desk is that long; its words can be written
			continue
		}
		if ids[id] || len(row) == maxActions {
			end()
		}
		ids[id] = true
		row = append(row, s.button(b))
	}
	end()
}

func (s *builder) button(b bot.Button) *slackapi.ButtonBlockElement {
	label := s.Named(b.Label)
	if strings.TrimSpace(label) == "" {
		label = b.Word
	}
	e := slackapi.NewButtonBlockElement(wire.ButtonID(b), b.ID, plainText(label, maxLabel))
	switch b.Style {
	case bot.StylePrimary:
		e = e.WithStyle(slackapi.StylePrimary)
	case bot.StyleDanger:
		e = e.WithStyle(slackapi.StyleDanger)
	case bot.StylePlain:
	}
	return e
}

// rating shows Slack's own buttons for feedback, or else two plain ones.
func (s *builder) rating(p bot.Rating) {
	good, bad := "Good", "Bad"
	if s.Refused[slackapi.MBTContextActions] {
		s.buttons(bot.Buttons{List: []bot.Button{
			{Label: "👍 " + good, Act: bot.ActRate, ID: string(p.Run), Word: "+1"},
			{Label: "👎 " + bad, Act: bot.ActRate, ID: string(p.Run), Word: "-1"},
		}})
		return
	}
	s.add(slackapi.NewContextActionsBlock(wire.RatingBlock(p.Run, s.id()), slackapi.NewFeedbackButtonsBlockElement(wire.RateAction,
		slackapi.NewFeedbackButton(plainText(good, maxLabel), wire.RatePositive),
		slackapi.NewFeedbackButton(plainText(bad, maxLabel), wire.RateNegative))))
}
