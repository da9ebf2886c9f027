package mcp

// This file turns what a server answered into text for the model, and into files
// of the run where it is a picture, a sound or another file.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Bounds of one result.
const (
	maxParts = 200
	maxFiles = 16
)

// result is an answer as the model gets it. Asked are questions that the server
// had for a person.
func (s *Server) result(a answer, name string, c agent.Call, asked []string) agent.Result {
	w := writer{server: s, call: c, tool: name, r: agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted}}
	if a.failed {
		w.r.State = agent.OutcomeError
	}
	w.line(a.text)
	for i, part := range a.content {
		if i == maxParts {
			w.line(fmt.Sprintf("[%d more parts are left out]", len(a.content)-maxParts))
			break
		}
		w.part(part)
	}
	for i, one := range a.resources {
		if i == maxParts {
			break
		}
		w.resource(one)
	}
	w.structured(a.structured)
	for _, q := range asked {
		w.line("[The server wanted to ask a person: “" + format.Line(q, 500) + "”. Nobody was asked, and it was told so. " +
			"Where it matters, ask with ask_human, then call again with what was answered]")
	}
	text := strings.TrimSpace(s.hidden.hide(w.text.String()))
	switch {
	case text == "" && a.failed:
		text = "error: the tool failed and gave no reason"
	case text == "":
		text = "(no content)"
	case a.failed && !strings.HasPrefix(strings.ToLower(text), "error"):
		text = "error: " + text
	}
	w.r.Text = strings.ToValidUTF8(text, "�")
	return w.r
}

// writer puts a result together.
type writer struct {
	server *Server
	call   agent.Call
	tool   string
	text   strings.Builder
	r      agent.Result
	files  int
}

func (w *writer) line(text string) {
	if text != "" {
		w.text.WriteString(text + "\n")
	}
}

// part adds one part of an answer.
func (w *writer) part(p mcp.Content) {
	switch p := p.(type) {
	case *mcp.TextContent:
		w.line(p.Text)
	case *mcp.ImageContent:
		w.file("picture", p.MIMEType, p.Data)
	case *mcp.AudioContent:
		w.file("sound", p.MIMEType, p.Data)
	case *mcp.ResourceLink:
		w.line(fmt.Sprintf("resource %s  %s%s", p.URI, p.Name, about(p.MIMEType, p.Description)))
	case *mcp.EmbeddedResource:
		w.resource(p.Resource)
	default:
		w.line(fmt.Sprintf("[a part of an unknown kind, %T]", p))
	}
}

func (w *writer) resource(one *mcp.ResourceContents) {
	switch {
	case one == nil:
	case len(one.Blob) > 0 && utf8.Valid(one.Blob) && strings.HasPrefix(one.MIMEType, "text/"):
		w.line(string(one.Blob))
	case len(one.Blob) > 0:
		w.file("file", one.MIMEType, one.Blob)
	default:
		w.line(one.Text)
	}
}

// structured adds what a server gives beside its texts, unless one of them says
// the same.
func (w *writer) structured(v any) {
	if v == nil {
		return
	}
	whole, err := format.JSON(v)
	if err != nil {
		w.line("[structured content that is no JSON]")
		return
	}
	var said bytes.Buffer
	if json.Compact(&said, []byte(strings.TrimSpace(w.text.String()))) == nil {
		same, e1 := format.Canonical(said.Bytes())
		own, e2 := format.Canonical(whole)
		if e1 == nil && e2 == nil && bytes.Equal(same, own) {
			return
		}
	}
	w.line(string(whole))
}

// file keeps a file of an answer in the run's folder, and tells of it.
func (w *writer) file(what, kind string, data []byte) {
	if kind == "" {
		kind = "application/octet-stream"
	}
	w.files++
	if w.server.c.Save == nil || w.files > maxFiles {
		w.line(fmt.Sprintf("[a %s, %s, %d bytes, is not kept]", what, kind, len(data)))
		return
	}
	path, err := w.server.c.Save(w.call.Folder, w.name(kind), data)
	if err != nil {
		w.line(fmt.Sprintf("[a %s, %s, %d bytes, could not be kept: %v]", what, kind, len(data), err))
		return
	}
	w.r.Files = append(w.r.Files, path)
	w.line(fmt.Sprintf("[a %s, %s, %d bytes: %s]", what, kind, len(data), path))
}

// name is the file's: of its server, its tool and its call, so that no other call
// has the same.
func (w *writer) name(kind string) string {
	end := ".bin"
	if media, _, err := mime.ParseMediaType(kind); err == nil {
		if known, is := endings[media]; is {
			end = known
		}
	}
	return fmt.Sprintf("%s-%s-%s-%s-%d%s", plain(w.server.c.Name), plain(w.tool), plain(string(w.call.Run)), plain(string(w.call.Effect)), w.files, end)
}

// endings are those of the kinds that people open.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg",
	"application/pdf": ".pdf", "application/json": ".json", "application/zip": ".zip", "application/gzip": ".gz",
	"text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "text/markdown": ".md",
}

// plain is a text that may stand in a file's name.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, format.First(s, 60))
}
