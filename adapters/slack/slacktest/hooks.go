package slacktest

import (
	"net/http"
	"time"
)

// trigger is a trigger_id: it opens one view within three seconds.
type trigger struct {
	user  string
	until time.Time
	used  bool
}

// hook is a response_url: five uses within half an hour.
type hook struct {
	user, channel, thread, ts string
	until                     time.Time
	uses                      int
}

func (s *Server) serveHook(http.ResponseWriter, *http.Request) {}
