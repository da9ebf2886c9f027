package agent

import (
	"slices"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Lesson is what a check-in learnt about a task.
type Lesson struct {
	Task TaskID `json:"task"`
	Text string `json:"text"`
}

const (
	maxLessons = 3   // of one task, in the prompt
	maxLesson  = 500 // characters
)

// learn keeps the newest lessons of a task, in the run and in the prompt. What
// is forgotten leaves the conversation, which begins anew by that.
func (r Run) learn(id StrandID, text string) Run {
	task, _ := id.Task()
	text = format.LineStart(text, maxLesson)
	kept := r.LessonsOf(task)
	if text == "" || slices.Contains(kept, text) {
		return r
	}
	r.Lessons = push(r.Lessons, Lesson{Task: task, Text: text})
	if len(kept) == maxLessons {
		oldest := slices.IndexFunc(r.Lessons, func(l Lesson) bool { return l.Task == task })
		r.Lessons = slices.Delete(slices.Clone(r.Lessons), oldest, oldest+1)
		r = r.strand(id, (*Strand).forget)
	}
	return r.noteTo(id, Note{By: Deckhand, Text: text, Lesson: true})
}

// forget takes the oldest lesson out of the prompt.
func (s *Strand) forget() {
	t := s.Talks.Of(llm.Work)
	t.Cut++
	if len(s.CheckIn.Learnt) > 0 {
		s.CheckIn.Learnt = s.CheckIn.Learnt[1:]
	} else {
		entries, gone := History{}, false
		for _, e := range t.Entries.All() {
			if !gone && e.Note != nil && e.Note.Lesson {
				gone = true
				continue
			}
			entries = entries.Push(e)
		}
		t.Entries = entries
	}
	s.Talks = s.Talks.with(llm.Work, t)
}

// LessonsOf are the lessons about the task, the oldest first.
func (r Run) LessonsOf(id TaskID) []string {
	var list []string
	for _, l := range r.Lessons {
		if l.Task == id {
			list = append(list, l.Text)
		}
	}
	return list
}
