package agent

import (
	"cmp"
	"time"
)

// Tick is one turn of a schedule: it begins a run.
type Tick struct {
	Schedule string    `json:"schedule"` // its name
	At       time.Time `json:"at"`       // when it was due
	// Report says that the run is a report and nothing else: its journal has the
	// report from the beginning, and its voice posts the headline where the run
	// answers and the body in the thread under it.
	Report bool `json:"report,omitempty"`
	// Raise are the principals who are told where the report cannot be posted.
	Raise []string `json:"raise,omitempty"`
}

// Scheduled reports whether the run is a scheduled report, which has neither a
// card nor work.
func (r Run) Scheduled() bool { return r.Brief.Tick != nil && r.Brief.Tick.Report }

// dueScheduled is the next post of a scheduled report: the headline under the
// card's key, the body under the report's, the files; and where the headline
// has no place to go to, a word to everybody who is to know.
func (r Run) dueScheduled() (p Post, due bool) {
	if r.Report == nil {
		return Post{}, false
	}
	head, body := Post{Key: KeyCard, Kind: PostScheduled}, Post{Key: KeyReport, Kind: PostScheduled}
	switch {
	case !r.posted(head):
		return head, true
	case r.Undelivered() != "":
		for i, who := range r.Brief.Tick.Raise {
			if p := (Post{Key: KeyRaise(i), Kind: PostScheduled, To: who}); !r.posted(p) {
				return p, true
			}
		}
		return Post{}, false
	}
	if !r.posted(body) {
		return body, true
	}
	return r.dueUpload()
}

// Undelivered is why a scheduled report could not be posted, empty if it could
// or is on its way.
func (r Run) Undelivered() string {
	if !r.Scheduled() {
		return ""
	}
	return cmp.Or(r.Shown[KeyCard].Failed, r.Shown[KeyReport].Failed)
}

// Delivered reports whether a scheduled report was posted, head and body.
func (r Run) Delivered() bool {
	return r.Scheduled() && r.Shown[KeyCard].Message != "" && r.Shown[KeyReport].Message != ""
}

// dueUpload is the next artifact of the report to send along.
func (r Run) dueUpload() (p Post, due bool) {
	for i, file := range r.Report.Artifacts {
		if p := (Post{Key: KeyUpload(i), Kind: PostUpload, About: file}); i < maxUploads && !r.posted(p) {
			return p, true
		}
	}
	return Post{}, false
}
