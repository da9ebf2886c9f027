package draw

import (
	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

// Answer are an answer to somebody. They notify nobody.
type Answer struct {
	Content    *string                `json:"content,omitempty"`
	Components []Block                `json:"components"`
	Flags      discordgo.MessageFlags `json:"flags,omitempty"`
	Allowed    AllowedMentions        `json:"allowed_mentions"`
	Nonce      string                 `json:"nonce,omitempty"`
	Enforce    bool                   `json:"enforce_nonce,omitempty"`
	Reference  *Reference             `json:"message_reference,omitempty"`
}

// Reference is the message that words answer.
type Reference struct {
	Message string `json:"message_id"`
	Strict  bool   `json:"fail_if_not_exists"`
}

// Private is a text as one person is shown it: as plain content where it fits.
func Private(text string) Answer {
	return words(bot.Card{Text: text, Parts: []bot.Part{bot.Prose{Markdown: text}}})
}

// Choice is a text as one person is shown it, with buttons below; nil: none.
func Choice(text string, buttons *bot.Buttons) Answer {
	if buttons == nil {
		return Private(text)
	}
	return words(bot.Card{Text: text, Parts: []bot.Part{bot.Prose{Markdown: text}, *buttons}})
}

// Boxed is a card as an answer that stands in the place of a message with buttons:
// that one is made of components for good.
func Boxed(c bot.Card) Answer { return boxed(Card(c, Options{})) }

// words are a card as an answer: as plain content where that fits.
func words(c bot.Card) Answer {
	m := Card(c, Options{})
	if len(m.blocks) == 1 && m.blocks[0].Type == discordgo.TextDisplayComponent && Width(m.blocks[0].Content) <= maxContent {
		return Plain(m.blocks[0].Content)
	}
	return boxed(m)
}

func boxed(m Drawing) Answer {
	return Answer{Components: []Block{{Type: discordgo.ContainerComponent, Blocks: m.blocks}}, Flags: discordgo.MessageFlagsIsComponentsV2, Allowed: Allowing(nil)}
}

// Plain is a short text of our own, with no Markdown in it.
func Plain(text string) Answer {
	return Answer{Content: &text, Components: []Block{}, Allowed: Allowing(nil)}
}
