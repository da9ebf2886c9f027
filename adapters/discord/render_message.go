package discord

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/markdown"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// message is what is sent to make or to edit a message. Nonce and Enforce make
// a second message of the same nonce the first one, for a few minutes. With clear
// an edit takes away the content and the embeds that an edition of the other
// kind had.
type message struct {
	Content     *string                `json:"content,omitempty"`
	Embeds      *[]embed               `json:"embeds,omitempty"`
	Components  []block                `json:"components"`
	Flags       discordgo.MessageFlags `json:"flags,omitempty"`
	Nonce       string                 `json:"nonce,omitempty"`
	Enforce     bool                   `json:"enforce_nonce,omitempty"`
	Allowed     allowedMentions        `json:"allowed_mentions"`
	Attachments []attachment           `json:"attachments"`

	clear bool
}

// MarshalJSON is the message as it is sent.
func (m message) MarshalJSON() ([]byte, error) {
	type plain message
	if !m.clear {
		return json.Marshal(plain(m)) //nolint:wrapcheck // the encoder wraps it
	}
	return json.Marshal(struct { //nolint:wrapcheck // as above
		plain
		Content *string  `json:"content"` // null, as embeds
		Embeds  *[]embed `json:"embeds"`
	}{plain: plain(m)})
}

type embed struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

type attachment struct {
	ID          int    `json:"id"`
	Name        string `json:"filename"`
	Description string `json:"description,omitempty"`
}

// letters begin the nonces of posts (CONTRACT.md, "Chat").
var letters = map[agent.PostKind]string{
	agent.PostCard: "c", agent.PostCheckpoint: "k", agent.PostReport: "r", agent.PostAnswer: "a", agent.PostScheduled: "s", agent.PostUpload: "u",
}

func hashOf(k bot.Key) [sha256.Size]byte {
	return sha256.Sum256([]byte(string(k.Run) + "\x00" + k.Name))
}

// nonceOf is the nonce of a post: a letter for its kind and 96 bits of a hash.
func nonceOf(k bot.Key) string {
	letter, known := letters[k.Kind]
	if !known {
		letter = "x"
	}
	sum := hashOf(k)
	return letter + hex.EncodeToString(sum[:12])
}

// mark is how a post is found again: Discord keeps no nonce, but the numbers
// that components are given. The container has the first, what it begins with
// the second; both are far above those that Discord gives out itself.
type mark struct{ outer, inner int64 }

func markOf(k bot.Key) mark {
	sum := hashOf(k)
	number := func(b []byte) int64 { return int64(binary.BigEndian.Uint32(b)&0x3fffffff | 0x40000000) }
	m := mark{outer: number(sum[12:16]), inner: number(sum[16:20])}
	if m.inner == m.outer {
		m.inner ^= 1 // Discord refuses a number that stands twice
	}
	return m
}

// markURL is the mark of a post that has no components of the new kind: an
// address that the embed has and, without a title, does not show.
func markURL(k bot.Key) string { return "https://discord.com/#" + nonceOf(k) }

// modern is a card as a message of components.
func modern(c bot.Card, m drawn) message {
	at := markOf(c.Key)
	box := block{Type: kindContainer, ID: at.outer, Blocks: append([]block{}, m.blocks...)}
	box.Blocks[0].ID = at.inner
	return message{Components: []block{box}, Flags: discordgo.MessageFlagsIsComponentsV2, Allowed: allowing(m.mentions)}
}

const maxRows = 5

// old is a card as an embed with rows of buttons, for where components are
// refused. Mentions within an embed notify nobody, so they stand before it.
func old(c bot.Card, m drawn) message {
	content := strings.Join(m.mentions, " ")
	var texts []string
	rows := []block{}
	for _, b := range m.blocks {
		switch {
		case b.Type == kindText && (content == "" || b.Content != content):
			texts = append(texts, b.Content)
		case b.Type == kindRow && len(rows) < maxRows:
			rows = append(rows, b)
		}
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		text = markdown.NoWidth
	}
	text, _ = first(text, maxAll)
	return message{Content: &content, Embeds: &[]embed{{URL: markURL(c.Key), Description: text}}, Components: rows, Allowed: allowing(m.mentions)}
}
