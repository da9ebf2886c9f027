package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// MaxUpload is the size of a request's files that Discord takes everywhere.
const MaxUpload = 10 << 20

// File is one file that goes with a message.
type File struct {
	Name string
	Data []byte
}

// Deliver sends a message, with its file in the same request; without one it is Call.
func (c *Client) Deliver(ctx context.Context, method, endpoint string, body any, f *File, out any) error {
	if f == nil {
		return c.Call(ctx, method, endpoint, body, out)
	}
	kind, raw, err := discordgo.MultipartBodyWithJSON(body, []*discordgo.File{{Name: f.Name, Reader: bytes.NewReader(f.Data)}})
	if err != nil {
		return fmt.Errorf("encode a message with the file %q: %w", f.Name, err)
	}
	answer, err := c.send(ctx, method, endpoint, kind, raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	return nil
}

// Download writes an attached file's content. Its address is signed and needs no
// token, so none is sent.
func (c *Client) Download(ctx context.Context, f agent.Attachment, limit int64, w io.Writer) error {
	what := fmt.Sprintf("fetch the file %q", f.Name)
	if f.Size > limit {
		return fmt.Errorf("%s: it has %d bytes, more than %d", what, f.Size, limit)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
	if err != nil || !isWeb(f.URL) {
		return fmt.Errorf("%s: %q is no address of a file", what, f.URL)
	}
	resp, err := c.files.Do(req)
	if err != nil {
		return Failed(what, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%s: %w", what, &bot.BusyError{After: max(seconds(resp.Header.Get("Retry-After")), BusyPause)})
	case resp.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("%s: %w (status %d)", what, bot.ErrLost, resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: Discord does not have it (status %d): it was deleted, or its address has expired; attach it again", what, resp.StatusCode)
	}
	t := &ingest.LimitedWriter{To: w, Left: limit}
	_, err = io.Copy(t, resp.Body)
	switch {
	case t.Over:
		return fmt.Errorf("%s: it has more than %d bytes", what, limit)
	case t.Error != nil:
		return fmt.Errorf("%s: %w", what, t.Error)
	}
	return Failed(what, err)
}

// isWeb reports whether an address is one that browsers open.
func isWeb(address string) bool {
	address = strings.ToLower(address)
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}
