package discord

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/bot"
)

// The styles of buttons.
const (
	stylePrimary   = 1
	styleSecondary = 2
	styleDanger    = 4
)

// menuPrefix begins the custom id of a menu: what was chosen is the value of
// its option.
const menuPrefix = "menu:"

// buttons shows buttons in rows of five, and many of them as a menu.
func (s *sheet) buttons(p bot.Buttons) {
	var list []block
	for i, b := range p.List {
		id := buttonID(b, i+1)
		if width(id) > maxCustomID {
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
		s.blocks = append(s.blocks, block{Type: kindRow, Blocks: row})
	}
}

func (s *sheet) button(b bot.Button, id string) block {
	label := s.named(b.Label)
	if strings.TrimSpace(label) == "" {
		label = b.Word
	}
	style := styleSecondary
	switch b.Style {
	case bot.StylePrimary:
		style = stylePrimary
	case bot.StyleDanger:
		style = styleDanger
	case bot.StylePlain:
	}
	return block{Type: kindButton, Style: style, Label: plainText(label, maxLabel), CustomID: id}
}

// menus shows buttons as menus of 25.
func (s *sheet) menus(list []block) {
	if len(list) > maxMenus*maxOptions {
		list, s.cut = list[:maxMenus*maxOptions], true
	}
	for some := range slices.Chunk(list, maxOptions) {
		menu := block{Type: kindMenu, CustomID: s.menuID(), Placeholder: "Choose"}
		for _, b := range some {
			menu.Options = append(menu.Options, option{Label: plainText(b.Label, maxOption), Value: b.CustomID})
		}
		s.blocks = append(s.blocks, block{Type: kindRow, Blocks: []block{menu}})
	}
}

func (s *sheet) menuID() string {
	for n := 1; ; n++ {
		if id := menuPrefix + strconv.Itoa(n); !s.ids[id] {
			s.ids[id] = true
			return id
		}
	}
}

// rating asks with two buttons.
func (s *sheet) rating(p bot.Rating) {
	s.buttons(bot.Buttons{List: []bot.Button{
		{Label: "👍 Good", Act: bot.ActRate, ID: string(p.Run), Word: "+1"},
		{Label: "👎 Bad", Act: bot.ActRate, ID: string(p.Run), Word: "-1"},
	}})
}
