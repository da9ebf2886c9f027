package slack

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

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// largest is the size of an upload: Slack takes more, but a thread is no archive.
const largest = 100 << 20

// Largest is the size of the largest file that can be uploaded, in bytes.
func (s *Slack) Largest() int64 { return largest }

// Fetch writes an attached file's content.
func (s *Slack) Fetch(ctx context.Context, f agent.Attachment, limit int64, w io.Writer) error {
	what := fmt.Sprintf("fetch the file %q", f.Name)
	if f.Size > limit {
		return fmt.Errorf("%s: it has %d bytes, more than %d", what, f.Size, limit)
	}
	if f.URL == "" {
		info, _, _, err := s.api.GetFileInfoContext(ctx, f.ID, 0, 0)
		if err != nil {
			return s.failed(what, err)
		}
		f.URL = info.URLPrivateDownload
	}
	t := &tap{to: w, left: limit}
	err := s.api.GetFileContext(ctx, f.URL, t)
	switch status, is := errors.AsType[slackapi.StatusCodeError](err); {
	case t.over:
		return fmt.Errorf("%s: it has more than %d bytes", what, limit)
	case t.err != nil:
		return fmt.Errorf("%s: %w", what, t.err)
	case err != nil && strings.Contains(err.Error(), "sign-in page"), is && status.Code == http.StatusForbidden, err == nil && t.signIn(f):
		return fmt.Errorf("%s: Slack shows its sign-in page instead: the bot lacks the scope files:read, or the file was not shared with it", what)
	case is && status.Code < http.StatusInternalServerError && status.Code != http.StatusTooManyRequests:
		return fmt.Errorf("%s: Slack does not have it: %w", what, status)
	}
	return s.failed(what, err)
}

// tap passes a file on as far as its limit, and keeps its beginning.
type tap struct {
	to    io.Writer
	left  int64
	start []byte
	count int64
	over  bool
	err   error
}

var errTooLarge = errors.New("the file is larger than its limit")

func (t *tap) Write(p []byte) (int, error) {
	if t.left -= int64(len(p)); t.left < 0 {
		t.over = true
		return 0, errTooLarge
	}
	t.count += int64(len(p))
	t.start = append(t.start, p[:min(len(p), 512-min(len(t.start), 512))]...)
	n, err := t.to.Write(p)
	t.err = err
	return n, err
}

// signIn reports whether what came is a web page where another file was expected.
func (t *tap) signIn(f agent.Attachment) bool {
	page := strings.HasPrefix(http.DetectContentType(t.start), "text/html")
	expected := strings.Contains(mime.TypeByExtension(path.Ext(f.Name)), "html")
	return page && !expected && t.count != f.Size
}

// Upload posts a file to a thread, or to a channel's top level.
func (s *Slack) Upload(ctx context.Context, to bot.Address, f bot.Upload) (bot.Posted, error) {
	what := fmt.Sprintf("upload %q to %s", f.Name, to)
	id, err := s.send(ctx, what, f)
	if err != nil {
		return bot.Posted{}, err
	}
	_, err = s.api.CompleteUploadExternalContext(ctx, slackapi.CompleteUploadExternalParameters{
		Files: []slackapi.FileSummary{{ID: id, Title: f.Title}}, Channel: to.Channel, ThreadTimestamp: to.ID,
	})
	if err != nil {
		return bot.Posted{}, s.failed(what, err)
	}
	return s.shared(ctx, to, id), nil
}

// shared is where an upload went, as far as Slack says so at once: it shares
// files a moment later.
func (s *Slack) shared(ctx context.Context, to bot.Address, id string) bot.Posted {
	p := bot.Posted{Thread: to}
	info, _, _, err := s.api.GetFileInfoContext(ctx, id, 0, 0)
	if err != nil {
		s.log.Debug("cannot ask where a file was shared", "file", id, "err", err)
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
func (s *Slack) send(ctx context.Context, what string, f bot.Upload) (id string, err error) {
	if f.Size <= 0 {
		return "", fmt.Errorf("%s: it is empty, and Slack takes no empty files", what)
	}
	if f.Size > largest {
		return "", fmt.Errorf("%s: it has %d bytes, more than %d", what, f.Size, largest)
	}
	place, err := s.api.GetUploadURLExternalContext(ctx, slackapi.GetUploadURLExternalParameters{FileName: f.Name, FileSize: int(f.Size)})
	if err != nil {
		return "", unseen(s.failed(what, err))
	}
	content := &source{from: f.Content}
	err = s.api.UploadToURL(ctx, slackapi.UploadToURLParameters{UploadURL: place.UploadURL, Filename: f.Name, Reader: content})
	if content.err != nil {
		return "", fmt.Errorf("%s: read it: %w", what, content.err)
	}
	if err != nil {
		return "", unseen(s.failed(what, err))
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
func (s *Slack) FindUpload(ctx context.Context, to bot.Address, name string, since time.Time) (p bot.Posted, found bool, err error) {
	err = s.search(ctx, to, since, func(m *slackapi.Message) bool {
		for _, f := range m.Files {
			if f.Name == name {
				p, found = s.posted(to, m), true
			}
		}
		return found
	})
	if err != nil {
		return bot.Posted{}, false, fmt.Errorf("look for the file %q: %w", name, err)
	}
	return p, found, nil
}

// attach uploads the whole text of a card that was cut, shared with nobody yet,
// and returns a link to it: Slack shares a file that its own bot links to. The
// card is shown without the file where that does not work in half of the time.
func (s *Slack) attach(ctx context.Context, c bot.Card, d drawing) (link string, err error) {
	limit := s.cfg.PostTimeout
	if deadline, is := ctx.Deadline(); is {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text := d.named(bot.Markdown(c)) + "\n"
	name := string(c.Key.Kind) + ".md"
	if c.Key.Kind == "" {
		name = "text.md"
	}
	what := "upload the whole text of post " + c.Key.Name
	link, err = s.private(ctx, what, bot.Upload{Name: name, Title: name, Size: int64(len(text)), Content: strings.NewReader(text)})
	if _, is := errors.AsType[*bot.BusyError](err); is && !errors.Is(err, bot.ErrLost) {
		return "", err
	}
	if err != nil {
		s.log.Error("the whole text of a post cannot be attached; it is shown shortened", "run", c.Key.Run, "key", c.Key.Name, "err", err)
		return "", nil
	}
	return link, nil
}

// private uploads a file that nobody sees, and returns a link to it in mrkdwn.
func (s *Slack) private(ctx context.Context, what string, f bot.Upload) (string, error) {
	id, err := s.send(ctx, what, f)
	if err != nil {
		return "", err
	}
	_, err = s.api.CompleteUploadExternalContext(ctx, slackapi.CompleteUploadExternalParameters{Files: []slackapi.FileSummary{{ID: id, Title: f.Title}}})
	if err != nil {
		return "", unseen(s.failed(what, err))
	}
	info, _, _, err := s.api.GetFileInfoContext(ctx, id, 0, 0)
	if err != nil {
		return "", unseen(s.failed(what, err))
	}
	return link(info.Permalink, f.Name), nil
}
