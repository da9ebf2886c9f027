package api

// This file fetches the files that people attached, uploads the bot's own,
// and finds uploads again. It recognizes Slack's sign-in page, which comes in
// place of a file that the bot may not see.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// largest is the size of an upload: Slack takes more, but a thread is no archive.
const largest = 100 << 20

// Largest is the size of the largest file that can be uploaded, in bytes.
func (c *Client) Largest() int64 { return largest }

// Fetch writes an attached file's content.
func (c *Client) Fetch(ctx context.Context, f agent.Attachment, limit int64, w io.Writer) error {
	what := fmt.Sprintf("fetch the file %q", f.Name)
	if f.Size > limit {
		return fmt.Errorf("%s: it has %d bytes, more than %d", what, f.Size, limit)
	}
	if f.URL == "" {
		info, _, _, err := c.Web.GetFileInfoContext(ctx, f.ID, 0, 0)
		if err != nil {
			return c.Failed(what, err)
		}
		f.URL = info.URLPrivateDownload
	}
	t := &file{LimitedWriter: ingest.LimitedWriter{To: w, Left: limit}}
	err := c.Web.GetFileContext(ctx, f.URL, t)
	switch status, is := errors.AsType[slackapi.StatusCodeError](err); {
	case t.Over:
		return fmt.Errorf("%s: it has more than %d bytes", what, limit)
	case t.Error != nil:
		return fmt.Errorf("%s: %w", what, t.Error)
	case err != nil && strings.Contains(err.Error(), "sign-in page"), is && status.Code == http.StatusForbidden, err == nil && t.signIn(f):
		return fmt.Errorf("%s: Slack shows its sign-in page instead: the bot lacks the scope files:read, or the file was not shared with it", what)
	case is && status.Code < http.StatusInternalServerError && status.Code != http.StatusTooManyRequests:
		return fmt.Errorf("%s: Slack does not have it: %w", what, status)
	}
	return c.Failed(what, err)
}

// file is where a file's content goes. It keeps the beginning: Slack gives its
// sign-in page where the bot may not see the file.
type file struct {
	ingest.LimitedWriter

	start []byte
	count int64
}

func (f *file) Write(p []byte) (int, error) {
	if n := int64(len(p)); n <= f.Left {
		f.count += n
		f.start = append(f.start, p[:min(len(p), 512-min(len(f.start), 512))]...)
	}
	return f.LimitedWriter.Write(p)
}

// signIn reports whether what came is a web page where another file was expected.
func (f *file) signIn(expected agent.Attachment) bool {
	page := strings.HasPrefix(http.DetectContentType(f.start), "text/html")
	wanted := strings.Contains(mime.TypeByExtension(path.Ext(expected.Name)), "html")
	return page && !wanted && f.count != expected.Size
}

// Upload posts a file to a thread, or to a channel's top level.
func (c *Client) Upload(ctx context.Context, to bot.Address, f bot.Upload) (bot.Posted, error) {
	what := fmt.Sprintf("upload %q to %s", f.Name, to)
	id, err := c.send(ctx, what, f)
	if err != nil {
		return bot.Posted{}, err
	}
	_, err = c.Web.CompleteUploadExternalContext(ctx, slackapi.CompleteUploadExternalParameters{
		Files: []slackapi.FileSummary{{ID: id, Title: f.Title}}, Channel: to.Channel, ThreadTimestamp: to.ID,
	})
	if err != nil {
		return bot.Posted{}, c.Failed(what, err)
	}
	return c.shared(ctx, to, id), nil
}

// shared is where an upload went, as far as Slack says so at once: it shares
// files a moment later.
func (c *Client) shared(ctx context.Context, to bot.Address, id string) bot.Posted {
	p := bot.Posted{Thread: to}
	info, _, _, err := c.Web.GetFileInfoContext(ctx, id, 0, 0)
	if err != nil {
		c.log.Debug("cannot ask where a file was shared", "file", id, "err", err)
		return p
	}
	for _, some := range []map[string][]slackapi.ShareFileInfo{info.Shares.Public, info.Shares.Private} {
		if list := some[to.Channel]; len(list) > 0 {
			if p.Message = to.At(list[0].Ts); to.ID == "" {
				p.Thread = p.Message
			}
			return p
		}
	}
	return p
}

// send brings a file's content to Slack, where nobody sees it yet: whatever goes
// wrong, it can be sent again.
func (c *Client) send(ctx context.Context, what string, f bot.Upload) (id string, err error) {
	if f.Size <= 0 {
		return "", fmt.Errorf("%s: it is empty, and Slack takes no empty files", what)
	}
	if f.Size > largest {
		return "", fmt.Errorf("%s: it has %d bytes, more than %d", what, f.Size, largest)
	}
	place, err := c.Web.GetUploadURLExternalContext(ctx, slackapi.GetUploadURLExternalParameters{FileName: f.Name, FileSize: int(f.Size)})
	if err != nil {
		return "", unseen(c.Failed(what, err))
	}
	content := &source{from: f.Content}
	err = c.Web.UploadToURL(ctx, slackapi.UploadToURLParameters{UploadURL: place.UploadURL, Filename: f.Name, Reader: content})
	if content.err != nil {
		return "", fmt.Errorf("%s: read it: %w", what, content.err)
	}
	if err != nil {
		return "", unseen(c.Failed(what, err))
	}
	return place.FileID, nil
}

// unseen is the error of a call that has no effect that people see: a lost
// answer is a reason to do it again.
func unseen(err error) error {
	if errors.Is(err, bot.ErrLost) {
		return fmt.Errorf("%w: %w", err, &bot.BusyError{After: lostPause})
	}
	return err
}

// source is a file's content; it keeps what went wrong with it.
type source struct {
	from io.Reader
	err  error
}

func (r *source) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// FindUpload looks for a file of the name that the bot posted.
func (c *Client) FindUpload(ctx context.Context, to bot.Address, name string, since time.Time) (p bot.Posted, found bool, err error) {
	err = c.search(ctx, to, since, func(m *slackapi.Message) bool {
		for _, f := range m.Files {
			if f.Name == name {
				p, found = c.posted(to, m), true
			}
		}
		return found
	})
	if err != nil {
		return bot.Posted{}, false, fmt.Errorf("look for the file %q: %w", name, err)
	}
	return p, found, nil
}

// UploadUnseen uploads a file that nobody sees, and returns the address of it.
func (c *Client) UploadUnseen(ctx context.Context, what string, f bot.Upload) (id, link string, err error) {
	id, err = c.send(ctx, what, f)
	if err != nil {
		return "", "", err
	}
	_, err = c.Web.CompleteUploadExternalContext(ctx, slackapi.CompleteUploadExternalParameters{Files: []slackapi.FileSummary{{ID: id, Title: f.Title}}})
	if err != nil {
		return "", "", unseen(c.Failed(what, err))
	}
	info, _, _, err := c.Web.GetFileInfoContext(ctx, id, 0, 0)
	if err != nil {
		return "", "", unseen(c.Failed(what, err))
	}
	return id, info.Permalink, nil
}
