package slacktest

import (
	"net/http"
	"time"
)

// file is a file or the promise of one.
type file struct {
	File
	length int
	sent   bool // its bytes are here
	ready  bool // and it was completed
}

// keep stores what a person attached; the lock is held.
func (s *Server) keep(user, channel string, u Upload) *file {
	f := &file{ready: true, sent: true, length: len(u.Data), File: File{
		ID: s.id("F"), Name: u.Name, Title: u.Name, Mimetype: mimetype(u.Name, u.Mimetype, u.Data),
		User: user, Data: u.Data, Channels: []string{channel}, Created: time.Now(),
	}}
	s.files = append(s.files, f)
	return f
}

func (s *Server) fileJSON(f File) obj {
	url := s.base + "/files/" + f.ID + "/" + f.Name
	return obj{
		"id": f.ID, "name": f.Name, "title": f.Title, "mimetype": f.Mimetype, "filetype": filetype(f.Name),
		"user": f.User, "size": len(f.Data), "created": f.Created.Unix(), "timestamp": f.Created.Unix(),
		"mode": "hosted", "is_external": false, "is_public": true, "channels": f.Channels,
		"url_private": url, "url_private_download": url, "permalink": url,
	}
}

func (s *Server) serveUpload(http.ResponseWriter, *http.Request) {}
func (s *Server) serveFile(http.ResponseWriter, *http.Request)   {}
func mimetype(name, given string, data []byte) string { return given }
func filetype(name string) string { return name }
