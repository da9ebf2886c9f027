package posting

// This file moves files between chat and a run's workspace: attachments of
// people are fetched under safe, free names, and artifacts of the run are
// uploaded to its thread.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Files: what people gave comes into the workspace, what a run made goes to
// its thread.

// Bounds of files that people give.
const (
	maxFetch     = 50 << 20 // bytes
	maxNameBytes = 200      // of a name: file systems take 255, a number and an ending come behind
	maxTries     = 100      // numbers behind a name that is taken
	attachments  = "attachments/"
)

// fetch brings a file that a person gave into the run's folder.
func (v *Poster) fetch(ctx context.Context, r agent.Run, p agent.Post) (agent.Shown, error) {
	i, err := strconv.Atoi(p.About)
	if err != nil || i < 0 || i >= len(r.Files) {
		return agent.Shown{}, fmt.Errorf("the run has no file number %s", p.About)
	}
	f := r.Files[i]
	if f.Size > maxFetch {
		return agent.Shown{}, fmt.Errorf("%s has %s; at most %s are fetched", f.Name, format.Count(f.Size, "byte"), format.Thousands(maxFetch))
	}
	platform, _, err := v.platformAt(r.Brief.ReplyTo)
	if err != nil {
		return agent.Shown{}, err
	}
	filer, can := platform.(bot.Filer)
	if !can {
		return agent.Shown{}, fmt.Errorf("%s gives no files", platform.Name())
	}
	for n := 1; n <= maxTries; n++ {
		name := attachments + numbered(fileName(f.Name), n)
		err = v.files.Create(r.Brief.Folder, name, func(w io.Writer) error { return filer.Fetch(ctx, f, maxFetch, w) })
		if errors.Is(err, fs.ErrExist) && v.same(ctx, filer, r, f, name) {
			err = nil // an earlier attempt brought it
		}
		if !errors.Is(err, fs.ErrExist) {
			return agent.Shown{Path: name}, err
		}
	}
	return agent.Shown{}, fmt.Errorf("%s: the workspace has %d files of that name already", f.Name, maxTries)
}

// fileName is a name that a file can have in the workspace: one part, without
// anything hidden.
func fileName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == unicode.ReplacementChar || format.Visible(string(r)) != string(r):
			return -1
		case strings.ContainsRune(`/:*?"<>|`, r):
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.TrimSpace(name), ".")
	if name == "" {
		name = "file"
	}
	ext := path.Ext(name)
	if len(ext) > 20 {
		ext = ""
	}
	name = format.First(strings.TrimSuffix(name, ext), runs.MaxFileName)
	for len(name) > maxNameBytes {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return name + ext
}

// numbered is the n-th name like the given one: "a.csv", "a-2.csv".
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(n) + ext
}

// same reports whether the workspace's file is what the person gave.
func (v *Poster) same(ctx context.Context, filer bot.Filer, r agent.Run, f agent.Attachment, name string) bool {
	have, size, err := v.files.Open(r.Brief.Folder, name)
	if err != nil {
		return false
	}
	defer have.Close()
	if f.Size > 0 && f.Size != size {
		return false
	}
	c := &comparison{have: have}
	if filer.Fetch(ctx, f, maxFetch, c) != nil {
		return false
	}
	_, err = have.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// comparison fails at the first byte that is not what have says.
type comparison struct {
	have io.Reader
	buf  []byte
}

var errDiffers = errors.New("it differs")

func (c *comparison) Write(p []byte) (int, error) {
	if len(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	n, err := io.ReadFull(c.have, c.buf[:len(p)])
	if err != nil || !bytes.Equal(c.buf[:n], p) {
		return 0, errDiffers
	}
	return n, nil
}

// upload sends an artifact to the run's thread.
func (v *Poster) upload(ctx context.Context, r agent.Run, p agent.Post) (agent.Shown, error) {
	platform, to, err := v.place(r, p)
	if err != nil {
		return agent.Shown{}, err
	}
	filer, can := platform.(bot.Filer)
	if !can {
		return agent.Shown{}, fmt.Errorf("%s takes no files", platform.Name())
	}
	content, size, err := v.files.Open(r.Brief.Folder, p.About)
	if err != nil {
		return agent.Shown{}, fmt.Errorf("it cannot be read: %w", err)
	}
	defer content.Close()
	if size > filer.Largest() {
		return agent.Shown{}, fmt.Errorf("it is too large: %s, at most %s can be attached", format.Count(size, "byte"), format.Thousands(filer.Largest()))
	}
	file := bot.Upload{Name: uploadName(r, p.About), Title: text.InLine(p.About, 100), Size: size, Content: content}
	posted, err := filer.Upload(ctx, to, file)
	if v.noteReach(ctx, to, err); outOfReach(err) {
		return v.uploadElsewhere(ctx, r, p, file, err)
	}
	if err != nil {
		return agent.Shown{}, err
	}
	return shownAt(posted), nil
}

// uploadElsewhere gives the requester directly what its place does not take.
func (v *Poster) uploadElsewhere(ctx context.Context, r agent.Run, p agent.Post, file bot.Upload, why error) (agent.Shown, error) {
	if _, repeats := agent.Repeats(r, p); repeats || r.Scheduled() {
		return agent.Shown{}, why
	}
	platform, _, err := v.place(r, p)
	if err != nil {
		return agent.Shown{}, err
	}
	filer, _ := platform.(bot.Filer) // it took the file a moment ago
	to, err := requesterOf(ctx, platform, r)
	if err != nil {
		return agent.Shown{}, unreachable(why, err)
	}
	content, _, err := v.files.Open(r.Brief.Folder, p.About) // some of it may have been read
	if err != nil {
		return agent.Shown{}, fmt.Errorf("it cannot be read: %w", err)
	}
	defer content.Close()
	file.Content = content
	posted, err := filer.Upload(ctx, to, file)
	if err != nil {
		return agent.Shown{}, unreachable(why, err)
	}
	return againAtHome(p, shownAt(posted), why), nil
}

// uploadName is a file's name in the thread: its own, with its folders where
// another artifact of the run is called the same.
func uploadName(r agent.Run, file string) string {
	name := path.Base(file)
	if r.Report == nil {
		return name
	}
	for _, other := range r.Report.Artifacts {
		if other != file && path.Base(other) == name {
			return strings.ReplaceAll(path.Clean(file), "/", "_")
		}
	}
	return name
}
