package post

// This file uploads files to threads and fetches those that people attached.
// An upload is made recognizable by its nonce and its name, so that one whose
// answer was lost is found and not sent twice.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Largest is the size of the api.MaxUpload file that can be uploaded, in bytes.
func (p *Poster) Largest() int64 { return api.MaxUpload }

// Fetch writes an attached file's content.
func (p *Poster) Fetch(ctx context.Context, f agent.Attachment, limit int64, w io.Writer) error {
	return p.client.Download(ctx, f, limit, w)
}

// Upload posts a file to a thread, or to a channel's top level. Its nonce is
// made of what it is: the same file sent twice within minutes is there once.
func (p *Poster) Upload(ctx context.Context, to bot.Address, f bot.Upload) (bot.Posted, error) {
	what := fmt.Sprintf("upload %q to %s", f.Name, to)
	if f.Size > api.MaxUpload {
		return bot.Posted{}, fmt.Errorf("%s: it has %d bytes, and Discord takes %d", what, f.Size, api.MaxUpload)
	}
	data, err := io.ReadAll(io.LimitReader(f.Content, api.MaxUpload+1))
	if err != nil {
		return bot.Posted{}, fmt.Errorf("%s: read it: %w", what, err)
	}
	if len(data) > api.MaxUpload {
		return bot.Posted{}, fmt.Errorf("%s: it has more than the %d bytes that Discord takes", what, api.MaxUpload)
	}
	room, name := api.ChannelOf(to), FileName(f.Name)
	body := draw.Message{
		Nonce: draw.UploadNonce(room, f.Name, data), Enforce: true,
		Components: []draw.Block{}, Allowed: draw.Allowing(nil), Attachments: []draw.Attachment{{Name: name, Description: draw.Shortened(f.Title, maxAlt)}},
	}
	var m api.Sent
	err = p.client.Deliver(ctx, http.MethodPost, discordgo.EndpointChannelMessages(room), body, &api.File{Name: name, Data: data}, &m)
	if err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	return bot.Posted{Message: api.Address(to.Workspace, room, m.ID), Thread: to}, nil
}

const maxAlt = 1024 // of the text that stands for a file

var unnameable = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// FileName is a name that Discord leaves as it is: it drops other letters, so
// that they are told apart by a number here.
func FileName(name string) string {
	plain := unnameable.ReplaceAllString(strings.ReplaceAll(name, " ", "_"), "")
	if plain == strings.ReplaceAll(name, " ", "_") && strings.Trim(plain, ".") != "" {
		return plain
	}
	sum := sha256.Sum256([]byte(name))
	ext := path.Ext(plain)
	return strings.Trim(strings.TrimSuffix(plain, ext)+"-"+hex.EncodeToString(sum[:3]), "-.") + strings.TrimSuffix(ext, ".")
}

// FindUpload looks for a file of the name that the bot posted by itself: not
// for the whole text of a card, which has components or an embed.
func (p *Poster) FindUpload(ctx context.Context, to bot.Address, name string, since time.Time) (posted bot.Posted, is bool, err error) {
	room, name := api.ChannelOf(to), FileName(name)
	err = p.client.Search(ctx, room, p.self, since, func(m *api.Message) bool {
		if len(m.Embeds) > 0 || strings.Trim(string(m.Components), "[] \n") != "" {
			return false
		}
		for _, f := range m.Files {
			if f.Name == name {
				posted, is = bot.Posted{Message: api.Address(to.Workspace, room, m.ID), Thread: to}, true
			}
		}
		return is
	})
	if err != nil {
		return bot.Posted{}, false, api.Failed(fmt.Sprintf("look for the file %q in %s", name, to), err)
	}
	return posted, is, nil
}
