package draw

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

// menuPrefix begins the custom id of a menu: what was chosen is the value of
// its option.
const menuPrefix = "menu:"

// buttons shows buttons in rows of five, and many of them as a menu.
func (s *builder) buttons(p bot.Buttons) {
	var list []Block
	for i, b := range p.List {
		id := buttonID(b, i+1)
		if Width(id) > maxCustomID {
			s.cut = true // no button of the desk is that long; its words can be written
			continue
		}
		if !s.ids[id] {
			s.ids[id] = true
			list = append(list, s.button(b, id))
		}
	}
	if len(list) > maxButtons {
		s.menus(list)
		return
	}
	for row := range slices.Chunk(list, maxRow) {
		s.blocks = append(s.blocks, Block{Type: discordgo.ActionsRowComponent, Blocks: row})
	}
}

func (s *builder) button(b bot.Button, id string) Block {
	label := s.withNames(b.Label)
	if strings.TrimSpace(label) == "" {
		label = b.Word
	}
	style := discordgo.SecondaryButton
	switch b.Style {
	case bot.StylePrimary:
		style = discordgo.PrimaryButton
	case bot.StyleDanger:
		style = discordgo.DangerButton
	case bot.StylePlain:
	}
	return Block{Type: discordgo.ButtonComponent, Style: style, Label: PlainText(label, maxLabel), CustomID: id}
}

// menus shows buttons as menus of 25.
func (s *builder) menus(list []Block) {
	if len(list) > maxMenus*MaxOptions {
		list, s.cut = list[:maxMenus*MaxOptions], true
	}
	for some := range slices.Chunk(list, MaxOptions) {
		menu := Block{Type: discordgo.SelectMenuComponent, CustomID: s.menuID(), Placeholder: "Choose"}
		for _, b := range some {
			menu.Options = append(menu.Options, option{Label: PlainText(b.Label, MaxOption), Value: b.CustomID})
		}
		s.blocks = append(s.blocks, Block{Type: discordgo.ActionsRowComponent, Blocks: []Block{menu}})
	}
}

func (s *builder) menuID() string {
	for n := 1; ; n++ {
		if id := menuPrefix + strconv.Itoa(n); !s.ids[id] {
			s.ids[id] = true
			return id
		}
	}
}

// rating asks with two buttons.
func (s *builder) rating(p bot.Rating) {
	s.buttons(bot.Buttons{List: []bot.Button{
		{Label: "👍 Good", Act: bot.ActRate, ID: string(p.Run), Word: "+1"},
		{Label: "👎 Bad", Act: bot.ActRate, ID: string(p.Run), Word: "-1"},
	}})
}
