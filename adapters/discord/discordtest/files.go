package discordtest

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// keep makes an attachment; the lock is held.
func (s *Server) keep(up Upload) File {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ' ' {
			return '_'
		}
		return r
	}, up.Name)
	def(&name, "unknown")
	kind := up.Mimetype
	if kind == "" || kind == "application/octet-stream" {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	def(&kind, "application/octet-stream")
	return File{ID: s.id(), Name: name, Mimetype: kind, Data: up.Data}
}

// fileURL is where an attachment is downloaded, with an expiry as Discord's have.
func (s *Server) fileURL(channel string, f File) string {
	until := strconv.FormatInt(time.Now().Add(24*time.Hour).Unix(), 16)
	return fmt.Sprintf("%s/attachments/%s/%s/%s?ex=%s&is=0&hm=0", s.base, channel, f.ID, url.PathEscape(f.Name), until)
}

func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var found *File
	for _, m := range slices.Concat(s.messages, s.loose) {
		for i := range m.Files {
			if m.Channel == r.PathValue("channel") && m.Files[i].ID == r.PathValue("file") && !m.Deleted && !s.outage {
				found = &m.Files[i]
			}
		}
	}
	s.mu.Unlock()
	if found == nil {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", found.Mimetype)
	w.Header().Set("Content-Length", strconv.Itoa(len(found.Data)))
	_, _ = w.Write(found.Data) // a client that went away needs no answer
}
