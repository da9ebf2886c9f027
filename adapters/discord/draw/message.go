package draw

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/markdown"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Message is what is sent to make or to edit a message. Nonce and Enforce make
// a second message of the same nonce the first one, for a few minutes. With clear
// an edit takes away the content and the embeds that an edition of the other
// kind had.
type Message struct {
	Content     *string                `json:"content,omitempty"`
	Embeds      *[]embed               `json:"embeds,omitempty"`
	Components  []Block                `json:"components"`
	Flags       discordgo.MessageFlags `json:"flags,omitempty"`
	Nonce       string                 `json:"nonce,omitempty"`
	Enforce     bool                   `json:"enforce_nonce,omitempty"`
	Allowed     AllowedMentions        `json:"allowed_mentions"`
	Attachments []Attachment           `json:"attachments"`

	Clear bool `json:"-"`
}

// MarshalJSON is the message as it is sent.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message
	if !m.Clear {
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

// Attachment is a file that goes with a message.
type Attachment struct {
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

// Nonce is the nonce of a post: a letter for its kind and 96 bits of a hash.
func Nonce(k bot.Key) string {
	letter, known := letters[k.Kind]
	if !known {
		letter = "x"
	}
	sum := hashOf(k)
	return letter + hex.EncodeToString(sum[:12])
}

// UploadNonce is the nonce of a file, made of where it goes and what it is.
func UploadNonce(channel, name string, data []byte) string {
	sum := sha256.Sum256(slices.Concat([]byte(channel+"\x00"+name+"\x00"), data))
	return letters[agent.PostUpload] + hex.EncodeToString(sum[:12])
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
func markURL(k bot.Key) string { return "https://discord.com/#" + Nonce(k) }

// Components is a card as a message of components.
func Components(c bot.Card, m Drawing) Message {
	at := markOf(c.Key)
	box := Block{Type: discordgo.ContainerComponent, ID: at.outer, Blocks: append([]Block{}, m.blocks...)}
	box.Blocks[0].ID = at.inner
	return Message{Components: []Block{box}, Flags: discordgo.MessageFlagsIsComponentsV2, Allowed: Allowing(m.mentions)}
}

const maxRows = 5

// Embed is a card as an embed with rows of buttons, for where components are
// refused. Mentions within an embed notify nobody, so they stand before it.
func Embed(c bot.Card, m Drawing) Message {
	content := strings.Join(m.mentions, " ")
	var texts []string
	rows := []Block{}
	for _, b := range m.blocks {
		switch {
		case b.Type == discordgo.TextDisplayComponent && (content == "" || b.Content != content):
			texts = append(texts, b.Content)
		case b.Type == discordgo.ActionsRowComponent && len(rows) < maxRows:
			rows = append(rows, b)
		}
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		text = markdown.NoWidth
	}
	text, _ = cutMarkdown(text, maxAll)
	return Message{Content: &content, Embeds: &[]embed{{URL: markURL(c.Key), Description: text}}, Components: rows, Allowed: Allowing(m.mentions)}
}

// Carries reports whether a message is the post of the key, by its mark.
func Carries(m *api.Message, k bot.Key) bool {
	for _, e := range m.Embeds {
		if e.URL == markURL(k) {
			return true
		}
	}
	type part struct {
		ID    int64 `json:"id"`
		Parts []struct {
			ID int64 `json:"id"`
		} `json:"components"`
	}
	var list []part
	if len(m.Components) == 0 || json.Unmarshal(m.Components, &list) != nil {
		return false // components of another kind: not the bot's
	}
	at := markOf(k)
	return slices.ContainsFunc(list, func(p part) bool {
		return p.ID == at.outer && len(p.Parts) > 0 && p.Parts[0].ID == at.inner
	})
}

// WholeText is a card as a file; nil where even that is too large.
func WholeText(c bot.Card, d Options) *api.File {
	name := "text.md"
	if c.Key.Kind != "" {
		name = string(c.Key.Kind) + ".md"
	}
	data := []byte(d.withNames(bot.Markdown(c)) + "\n")
	if len(data) > api.MaxUpload {
		return nil
	}
	return &api.File{Name: name, Data: data}
}
