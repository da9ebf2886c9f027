package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// largest is the size of a request's files that Discord takes everywhere.
const largest = 10 << 20

// Largest is the size of the largest file that can be uploaded, in bytes.
func (d *Discord) Largest() int64 { return largest }

// Fetch writes an attached file's content. Its address is signed and needs no
// token, so none is sent.
func (d *Discord) Fetch(ctx context.Context, f agent.Attachment, limit int64, w io.Writer) error {
	what := fmt.Sprintf("fetch the file %q", f.Name)
	if f.Size > limit {
		return fmt.Errorf("%s: it has %d bytes, more than %d", what, f.Size, limit)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
	if err != nil || !opens(f.URL) {
		return fmt.Errorf("%s: %q is no address of a file", what, f.URL)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return d.failed(what, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%s: %w", what, &bot.BusyError{After: max(seconds(resp.Header.Get("Retry-After")), busyPause)})
	case resp.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("%s: %w (status %d)", what, bot.ErrLost, resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: Discord does not have it (status %d): it was deleted, or its address has expired; attach it again", what, resp.StatusCode)
	}
	t := &tap{to: w, left: limit}
	_, err = io.Copy(t, resp.Body)
	switch {
	case t.over:
		return fmt.Errorf("%s: it has more than %d bytes", what, limit)
	case t.err != nil:
		return fmt.Errorf("%s: %w", what, t.err)
	}
	return d.failed(what, err)
}

// tap passes a file on as far as its limit.
type tap struct {
	to   io.Writer
	left int64
	over bool
	err  error
}

var errTooLarge = errors.New("the file is larger than its limit")

func (t *tap) Write(p []byte) (int, error) {
	if t.left -= int64(len(p)); t.left < 0 {
		t.over = true
		return 0, errTooLarge
	}
	n, err := t.to.Write(p)
	t.err = err
	return n, err
}

// Upload posts a file to a thread, or to a channel's top level. Its nonce is
// made of what it is: the same file sent twice within minutes is there once.
func (d *Discord) Upload(ctx context.Context, to bot.Address, f bot.Upload) (bot.Posted, error) {
	what := fmt.Sprintf("upload %q to %s", f.Name, to)
	if f.Size > largest {
		return bot.Posted{}, fmt.Errorf("%s: it has %d bytes, and Discord takes %d", what, f.Size, largest)
	}
	data, err := io.ReadAll(io.LimitReader(f.Content, largest+1))
	if err != nil {
		return bot.Posted{}, fmt.Errorf("%s: read it: %w", what, err)
	}
	if len(data) > largest {
		return bot.Posted{}, fmt.Errorf("%s: it has more than the %d bytes that Discord takes", what, largest)
	}
	room, name := roomOf(to), fileName(f.Name)
	sum := sha256.Sum256(slices.Concat([]byte(room+"\x00"+f.Name+"\x00"), data))
	body := message{
		Nonce: letters[agent.PostUpload] + hex.EncodeToString(sum[:12]), Enforce: true,
		Components: []block{}, Allowed: allowing(nil), Attachments: []attachment{{Name: name, Description: shortened(f.Title, maxAlt)}},
	}
	var m sent
	err = d.deliver(ctx, http.MethodPost, discordgo.EndpointChannelMessages(room), body, &file{name: name, data: data}, &m)
	if err != nil {
		return bot.Posted{}, d.failed(what, err)
	}
	return bot.Posted{Message: place(to.Workspace, room, m.ID), Thread: to}, nil
}

const maxAlt = 1024 // of the text that stands for a file

var unnameable = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// fileName is a name that Discord leaves as it is: it drops other letters, so
// that they are told apart by a number here.
func fileName(name string) string {
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
func (d *Discord) FindUpload(ctx context.Context, to bot.Address, name string, since time.Time) (p bot.Posted, is bool, err error) {
	room, name := roomOf(to), fileName(name)
	err = d.search(ctx, room, since, func(m *found) bool {
		if len(m.Embeds) > 0 || strings.Trim(string(m.Components), "[] \n") != "" {
			return false
		}
		for _, f := range m.Files {
			if f.Name == name {
				p, is = bot.Posted{Message: place(to.Workspace, room, m.ID), Thread: to}, true
			}
		}
		return is
	})
	if err != nil {
		return bot.Posted{}, false, d.failed(fmt.Sprintf("look for the file %q in %s", name, to), err)
	}
	return p, is, nil
}
