package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// This file defines the report and words how a run ends where no model does:
// its end and the reason, the report of what there is, and the review before it.

// Reported is the run's final report.
type Reported struct {
	Headline  string `json:"headline"`
	Body      string `json:"body"`
	Artifacts Texts  `json:"artifacts"`
	Skipped   Texts  `json:"skipped"`
	FollowUps Texts  `json:"follow_ups,omitempty"`
	Lessons   Texts  `json:"lessons,omitempty"`
	// Schedule is what was made of the goal, where it was one.
	Schedule *Scheduled `json:"schedule,omitempty"`
}

// ending closes the journal. The state follows from the deliverables alone.
func ending(r Run, reason string) RunEnded {
	end := RunEnded{State: RunFailed, Reason: reason, Cost: r.Spent.Dollars(),
		Prompt: r.Spent.Prompt, Completion: r.Spent.Completion, ModelCalls: r.Spent.Calls}
	switch {
	case r.Cancelled != nil:
		end.State = RunCancelled
	case unreviewed(r):
		end.Reason = unreviewedReason(r)
	case r.Complete() || (r.Plans == 0 && r.Report != nil): // a mere reply
		end.State = RunDone
	case reason == "":
		end.Reason = missing(r)
	}
	return end
}

// stopReason is why a run was ended before its time.
func stopReason(r Run) string {
	switch {
	case r.Cancelled != nil && r.Cancelled.Reason != "":
		return "cancelled by " + r.Cancelled.By + ": " + r.Cancelled.Reason
	case r.Cancelled != nil:
		return "cancelled by " + r.Cancelled.By
	case r.Complete():
		return ""
	case r.rejected():
		return missing(r)
	}
	if c := r.gaveUp(); c != nil {
		return gaveUpReason(r, *c)
	}
	return "the budget was used up"
}

// missing says which deliverables are not there.
func missing(r Run) string {
	var names []string
	for _, t := range r.Plan.Tasks {
		if s := r.Tasks[t.ID]; s.State != TaskDone {
			name := t.Title
			if s.Reason != "" {
				name += " (" + s.Reason + ")"
			}
			names = append(names, name)
		}
	}
	reason := "not delivered: " + strings.Join(names, "; ")
	if r.rethinks() {
		reason += "; the plan was to be made anew: " + r.Rethink.Reason
	}
	return reason
}

// failure is the report of a run that came to no plan, or to no new one.
func failure(r Run, reason string) Reported {
	if r.Plans > 0 {
		rep := plainReport(r)
		rep.Body = strings.TrimPrefix(rep.Body+"\nThere is no new plan for what failed: "+reason+"\n", "\n")
		return rep
	}
	return Reported{Headline: "Failed before any work began", Body: reason}
}

// plainReport is a report written without a model: for runs that were ended,
// or whose budget or model is gone.
func plainReport(r Run) Reported {
	done, total := r.Progress()
	tasks := "tasks"
	if total == 1 {
		tasks = "task"
	}
	rep := Reported{Headline: fmt.Sprintf("%d of %d %s done", done, total, tasks)}
	var body strings.Builder
	if done > 0 {
		body.WriteString("**Done so far**\n")
	}
	for _, t := range r.Plan.Tasks {
		s := r.Tasks[t.ID]
		switch s.State {
		case TaskDone:
			fmt.Fprintf(&body, "- %s: %s\n", t.Title, s.Summary)
			for _, o := range s.Outputs {
				if o.File != "" {
					rep.Artifacts = append(rep.Artifacts, o.File)
				}
			}
		case TaskPending, TaskRunning, TaskSkipped:
			rep.Skipped = append(rep.Skipped, undone(r, t, s.State))
		case TaskFailed:
			rep.Skipped = append(rep.Skipped, t.Title+": "+s.Reason)
		}
	}
	for _, l := range r.Lessons {
		rep.Lessons = append(rep.Lessons, l.Text)
	}
	rep.Body = body.String()
	return rep
}

// FilesOf are the files of a report: those that it lists, by their paths, their
// names or the names of the outputs that they are, and those that its text names.
func FilesOf(r Run, rep Reported) Texts {
	made := files(r)
	list := Texts{}
	add := func(file string) {
		if file != "" && !slices.Contains(list, file) {
			list = append(list, file)
		}
	}
	for _, name := range rep.Artifacts {
		i := slices.IndexFunc(made, func(o Output) bool { return o.File == path.Clean(name) })
		if i < 0 {
			i = slices.IndexFunc(made, func(o Output) bool { return strings.EqualFold(o.Name, name) })
		}
		if i < 0 {
			i = slices.IndexFunc(made, func(o Output) bool { return path.Base(o.File) == path.Base(name) })
		}
		if i < 0 {
			add(name)
			continue
		}
		add(made[i].File)
	}
	said := rep.Headline + "\n" + rep.Body
	for _, o := range made {
		if mentions(said, o.File) || mentions(said, path.Base(o.File)) || named(said, o.Name) {
			add(o.File)
		}
	}
	return list
}

// files are the files that the tasks delivered, and then those that were written
// on the way, which are no output.
func files(r Run) []Output {
	var list []Output
	for _, t := range r.Plan.Tasks {
		for _, o := range r.Tasks[t.ID].Outputs {
			if o.File != "" {
				list = append(list, Output{Name: o.Name, File: path.Clean(o.File)})
			}
		}
	}
	for _, file := range slices.Backward(r.Touched) { // the newest of a name
		list = append(list, Output{File: path.Clean(file)})
	}
	return list
}

// mentions reports whether a text has the name as a word of its own.
func mentions(text, name string) bool {
	part := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '/'
	}
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		at += i + len(name)
		rest := strings.TrimPrefix(text[at:], ".") // the end of a sentence, or of a longer name
		if after, _ := utf8.DecodeRuneInString(rest); !part(before) && !part(after) {
			return true
		}
	}
	return false
}

// named reports whether a text means the output: a name that is a word of prose
// as well ("table") counts in code only.
func named(text, output string) bool {
	if strings.ContainsAny(output, "_-.0123456789") {
		return mentions(text, output)
	}
	return output != "" && strings.Contains(text, "`"+output+"`")
}

// undone is a task that nothing came of, with the reason where there is one.
func undone(r Run, t Task, state TaskState) string {
	why := stopped(r.Findings, TaskStrand(t.ID))
	switch {
	case state == TaskPending && why != "":
		return t.Title + ": " + why // an earlier attempt; nothing came after it
	case state == TaskPending && unanswered(r):
		return t.Title + ": not begun"
	}
	return t.Title
}

// maxReview is how much of a goal, a summary or a reason a review shows, in
// characters.
const maxReview = 300

func reviewID(r Run) CheckpointID { return checkpointID(r.ID, "review", r.Plans, 0) }

// Review is the open question to the reviewers, nil if there is none. While it
// is open no task is at work.
func (r Run) Review() *Checkpoint {
	if c, asked := r.Checks[reviewID(r)]; asked && c.Review && c.Open() {
		return &c
	}
	return nil
}

// unreviewed reports whether the deliverables are there and no reviewer has
// approved them. A mere reply is no result.
func unreviewed(r Run) bool {
	if len(r.Brief.Reviewers) == 0 || r.Plans == 0 || !r.Complete() {
		return false
	}
	c := r.Checks[reviewID(r)]
	return c.Open() || c.Decision.Decision != DecideApprove
}

// unreviewedReason is why a run whose deliverables are there did not succeed.
func unreviewedReason(r Run) string {
	if c := r.Checks[reviewID(r)]; !c.Open() && c.Decision.Decision == DecideExpired {
		return "not reviewed: no reviewer decided in time"
	}
	return "not reviewed"
}

// unreleased is the report of a run whose results nobody approved.
func unreleased(r Run, reason string) Reported {
	rep := plainReport(r)
	rep.Headline, rep.Artifacts = "Not released: "+reason, nil
	return rep
}

func reviewQuestion(r Run) CheckpointOpened {
	var lines []string
	for _, t := range r.delivered() {
		lines = append(lines, deliverable(t, r.Tasks[t.ID]))
	}
	return CheckpointOpened{ID: reviewID(r), Ask: CheckApproval, Review: true,
		Title: "Review before the report: " + format.LineStart(r.Brief.Goal, maxReview), Detail: Bullets(lines),
		Choices: []string{DecideApprove, DecideDeny}, Expires: r.Brief.Expiry(r.Last)}
}

// deliverable is what a task delivered, in one line.
func deliverable(t Task, s TaskStatus) string {
	code := func(text string) string {
		return " `" + strings.ReplaceAll(format.LineStart(text, maxReview), "`", "'") + "`"
	}
	parts := []string{"**" + format.LineStart(t.Title, maxReview) + "**"}
	if s.Summary != "" {
		parts[0] += ": " + format.LineStart(s.Summary, maxReview)
	}
	for _, o := range s.Outputs {
		switch {
		case o.File != "":
			parts = append(parts, "file"+code(o.File))
		case len(o.Value) > 0:
			parts = append(parts, format.LineStart(o.Name, maxReview)+" ="+code(string(o.Value)))
		}
	}
	if s.Confidence > 0 {
		parts = append(parts, fmt.Sprintf("the model's own estimate: %.0f %%", 100*min(s.Confidence, 1)))
	}
	return strings.Join(parts, "; ")
}

// CallSchedule is the function that keeps a schedule.
const CallSchedule = "schedule"

// ScheduleOrder is a schedule as the model understood it (MODEL.md).
type ScheduleOrder struct {
	When   string `json:"when"` // in the words of package bot/schedule
	Zone   string `json:"zone"` // IANA name, empty: the requester's
	Goal   string `json:"goal"`
	Report bool   `json:"report"` // a report instead of a goal
}

// Scheduled is a schedule as people are told of it when it is made.
type Scheduled struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // the word of its commands: schedule or report
	// When is when it comes, in words and with its zone; Once: one time only.
	When string      `json:"when"`
	Once bool        `json:"once,omitempty"`
	Next []time.Time `json:"next,omitempty"` // its next times
	What string      `json:"what"`           // what is done then, in words
}

// Ordered says who orders a schedule, and in what: the times are of Zone where the
// order names none, and counted from At.
type Ordered struct {
	By     string // principal
	Where  string // the thread that it was said in: the schedule goes to its channel
	Direct bool   // to the bot alone
	Zone   string // IANA name
	At     time.Time
}

// ScheduleAnswer is what becomes of a ScheduleOrder. Wrong is an error for the
// model, Refused a text for the person; without either the schedule is made once
// the names of Set have their values.
type ScheduleAnswer struct {
	Wrong, Refused string
	Set            map[string]string
	Made           Scheduled
	Text           string // what is made, in plain text
}
