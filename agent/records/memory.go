package records

import (
	"context"
	"slices"
	"time"
)

// Query asks for what is remembered.
type Query struct {
	Text   string
	Viewer Viewer
	Kinds  []Kind // empty: all
	Scope  Scope  // empty: all that the viewer may see
	Limit  int    // 0: DefaultLimit
}

// DefaultLimit is how many records a query returns that does not say.
const DefaultLimit = 10

// Hit is a record that was found.
type Hit struct {
	Record Record  `json:"record"`
	Score  float64 `json:"score"`
	Parts  Parts   `json:"parts"`
}

// Parts are what a score is made of: relevance from 0 to 1 by words and, where
// vectors are, by meaning, fused; then importance and recency as they were added.
type Parts struct {
	Words      float64 `json:"words"`   // share of the best match by words
	Session    float64 `json:"session"` // of which its conversation gave
	Meaning    float64 `json:"meaning"` // cosine of the vectors, 0 without
	Relevance  float64 `json:"relevance"`
	Importance float64 `json:"importance"`
	Recency    float64 `json:"recency"`
	// Matched are the words of the question that the record has, in their
	// basic form, the weightiest first.
	Matched []string `json:"matched,omitempty"`
}

// Memory keeps records and finds them again.
type Memory interface {
	// Search returns what fits the query best, the best first.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Keep writes records. One that is there already stays as it is, and one that
	// was forgotten stays forgotten, unless anew says that somebody tells it again.
	Keep(ctx context.Context, anew bool, list ...Record) error
	// Forget removes the record with the id, as far as the viewer may, and
	// returns what it removed.
	Forget(ctx context.Context, v Viewer, id string) ([]Record, error)
}

// RecencyWeight and RecencyHour are how much being new counts: a record of now
// has RecencyWeight more, and with each hour that is 0.995 of it. More than 0.2
// would bury what was said long ago (RULES.md, "Memory").
const (
	RecencyWeight    = 0.1
	RecencyPerHour   = 0.995
	ImportanceWeight = 0.3
)

// Age is how old a record is, in hours: since it was said, or written where that
// is not known. What a clock that is ahead wrote is new.
func (r Record) Age(now time.Time) float64 {
	at := r.Time
	if at.IsZero() {
		at = r.Written
	}
	return max(now.Sub(at).Hours(), 0)
}

// Fits reports whether a record is among what the query looks for.
func (q Query) Fits(r Record) bool {
	return (q.Scope == "" || r.Scope == q.Scope) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)) && q.Viewer.Sees(r)
}
