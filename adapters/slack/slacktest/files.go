package slacktest

// This file plays Slack's file storage: an upload URL, the bytes, the sharing
// in a channel, and downloads that need the bot's token, as a client meets
// them with Slack.

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const maxFile = 64 << 20

// file is a file or the promise of one.
type file struct {
	File
	length int
	sent   bool // its bytes are here
	ready  bool // and it was completed
}

// keep stores what a person attached; the lock is held.
func (s *workspace) keep(user, channel string, u Upload) *file {
	f := &file{ready: true, sent: true, length: len(u.Data), File: File{
		ID: s.id("F"), Name: u.Name, Title: u.Name, Mimetype: mimetype(u.Name, u.Mimetype, u.Data),
		User: user, Data: u.Data, Channels: []string{channel}, Created: time.Now(),
	}}
	s.files = append(s.files, f)
	return f
}

func (s *workspace) file(id string) *file {
	for _, f := range s.files {
		if f.ID == id {
			return f
		}
	}
	return nil
}

func filesUploadURL(s *workspace, c *call) (obj, error) {
	length, err := strconv.Atoi(c.str("length"))
	name := c.str("filename")
	if err != nil || length <= 0 || length > maxFile || name == "" {
		return nil, no("invalid_arguments")
	}
	f := &file{length: length, File: File{ID: s.id("F"), Name: path.Base(name), User: BotUser, Created: time.Now()}}
	s.files = append(s.files, f)
	return obj{"upload_url": s.URL() + "/upload/" + f.ID, "file_id": f.ID}, nil
}

// serveUpload takes the bytes, as a form or as they are.
func (s *web) serveUpload(w http.ResponseWriter, r *http.Request) {
	data, err := uploaded(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	c := &call{args: map[string]string{"file": r.PathValue("id"), "bytes": strconv.Itoa(len(data))}}
	fn := func(s *workspace, c *call) (obj, error) {
		f := s.file(c.str("file"))
		switch {
		case f == nil || f.ready:
			return nil, &slackError{code: "file_not_found", status: http.StatusNotFound}
		case len(data) != f.length:
			return nil, &slackError{code: "length_mismatch", status: http.StatusBadRequest}
		}
		f.Data, f.sent = data, true
		f.Mimetype = mimetype(f.Name, "", data)
		return obj{}, nil
	}
	s.serve(w, "upload", method{open: true, fn: fn}, c, nil)
}

func uploaded(r *http.Request) ([]byte, error) {
	body := io.Reader(r.Body)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" { // none is raw
		parts, err := r.MultipartReader()
		if err != nil {
			return nil, fmt.Errorf("reading an upload: %w", err)
		}
		for {
			p, err := parts.NextPart()
			if err != nil {
				return nil, fmt.Errorf("an upload without a file: %w", err)
			}
			if p.FileName() != "" || p.FormName() == "file" {
				body = p
				break
			}
		}
	}
	data, err := io.ReadAll(io.LimitReader(body, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading an upload: %w", err)
	}
	return data, nil
}

// filesComplete shares uploaded files, all or none.
func filesComplete(s *workspace, c *call) (obj, error) {
	var some []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	if json.Unmarshal(c.json("files"), &some) != nil || len(some) == 0 {
		return nil, no("invalid_arguments")
	}
	m := &message{Message: Message{User: BotUser, BotID: Bot, Subtype: "file_share", Text: c.str("initial_comment")}}
	channel := c.str("channel_id")
	platformtest.Default(&channel, strings.Split(c.str("channels"), ",")[0])
	if channel != "" {
		ch, err := s.place(channel)
		if err != nil {
			return nil, err
		}
		m.Channel = ch.ID
		if m.ThreadTS, err = s.root(ch.ID, c.str("thread_ts")); err != nil {
			return nil, err
		}
	}
	for _, one := range some {
		if f := s.file(one.ID); f == nil || !f.sent || f.ready {
			return nil, no("file_not_found")
		}
	}
	var shown []obj
	for _, one := range some {
		f := s.file(one.ID)
		f.ready, f.Title = true, one.Title
		platformtest.Default(&f.Title, f.Name)
		if m.Channel != "" {
			f.Channels = append(slices.Clone(f.Channels), m.Channel)
		}
		m.Files = append(m.Files, f.File)
		shown = append(shown, s.fileJSON(f.File))
	}
	if m.Channel != "" {
		s.post(m)
		s.events.tell(m)
	}
	s.Change()
	return obj{"files": shown}, nil
}

func filesInfo(s *workspace, c *call) (obj, error) {
	f := s.file(c.str("file"))
	if f == nil || !f.ready {
		return nil, no("file_not_found")
	}
	out := s.fileJSON(f.File)
	out["shares"] = s.shares(f.ID)
	return obj{"file": out, "comments": []obj{}, "paging": obj{"count": 0, "total": 0, "page": 1, "pages": 0}}, nil
}

// shares are the messages that show a file.
func (s *workspace) shares(id string) obj {
	public := map[string][]obj{}
	for _, m := range s.messages {
		for _, f := range m.Files {
			if f.ID == id && !m.Deleted {
				public[m.Channel] = append(public[m.Channel], obj{"ts": m.TS, "thread_ts": m.ThreadTS})
			}
		}
	}
	return obj{"public": public}
}

// serveFile gives the bytes to whoever has the bot's token; everybody else is
// sent to the sign-in page.
func (s *web) serveFile(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	allowed := token == s.BotToken && slices.Contains(s.cfg.Scopes, "files:read") && !s.Refuses()
	var found *File
	if f := s.file(r.PathValue("id")); f != nil && f.ready {
		found = &f.File
	}
	s.Mu.Unlock()
	switch {
	case !allowed:
		http.Redirect(w, r, s.URL()+"/?redir="+r.URL.Path, http.StatusFound)
	case found == nil:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", found.Mimetype)
		_, _ = w.Write(found.Data) // a client that went away needs no answer
	}
}

func serveSignIn(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<html><body>Sign in to Slack</body></html>") // as serveFile
}

func mimetype(name, given string, data []byte) string {
	if given != "" {
		return given
	}
	if byName := mime.TypeByExtension(path.Ext(name)); byName != "" {
		kind, _, _ := strings.Cut(byName, ";")
		return kind
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return kind
}
