package agent

import (
	"fmt"
	"strings"
)

// ending closes the journal. The state follows from the deliverables alone.
func (r Run) ending(reason string) RunEnded {
	end := RunEnded{State: RunFailed, Reason: reason, Cost: r.Spent.Dollars(),
		Prompt: r.Spent.Prompt, Completion: r.Spent.Completion, ModelCalls: r.Spent.Calls}
	switch {
	case r.Cancelled != nil:
		end.State = RunCancelled
	case r.unreviewed():
		end.Reason = r.unreviewedReason()
	case r.Complete() || (r.Plans == 0 && r.Report != nil): // a mere reply
		end.State = RunDone
	case reason == "":
		end.Reason = r.missing()
	}
	return end
}

func (r Run) stopReason() string {
	switch {
	case r.Cancelled != nil && r.Cancelled.Reason != "":
		return "cancelled by " + r.Cancelled.By + ": " + r.Cancelled.Reason
	case r.Cancelled != nil:
		return "cancelled by " + r.Cancelled.By
	case r.Complete():
		return ""
	case r.rejected():
		return r.missing()
	}
	if c := r.gaveUp(); c != nil {
		return r.gaveUpReason(*c)
	}
	return "ended early, with what there was"
}

// missing says which deliverables are not there.
func (r Run) missing() string {
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
func (r Run) failure(reason string) Reported {
	if r.Plans > 0 {
		rep := r.plainReport()
		rep.Body = strings.TrimPrefix(rep.Body+"\nThere is no new plan for what failed: "+reason+"\n", "\n")
		return rep
	}
	return Reported{Headline: "Failed before any work began", Body: reason}
}

// plainReport is a report written without a model: for runs that were ended,
// or whose budget or model is gone.
func (r Run) plainReport() Reported {
	done, total := r.Progress()
	tasks := "tasks"
	if total == 1 {
		tasks = "task"
	}
	rep := Reported{Headline: fmt.Sprintf("%d of %d %s done", done, total, tasks)}
	var body strings.Builder
	for _, t := range r.Plan.Tasks {
		s := r.Tasks[t.ID]
		switch s.State {
		case TaskDone:
			fmt.Fprintf(&body, "- done: %s. %s\n", t.Title, s.Summary)
			for _, o := range s.Outputs {
				if o.File != "" {
					rep.Artifacts = append(rep.Artifacts, o.File)
				}
			}
		case TaskPending, TaskRunning, TaskSkipped:
			title := t.Title
			switch why := r.stopped(TaskStrand(t.ID)); {
			case s.State == TaskPending && why != "":
				title += ": " + why // an earlier attempt; nothing came after it
			case s.State == TaskPending && r.unanswered():
				title += ": not begun"
			}
			rep.Skipped = append(rep.Skipped, title)
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
