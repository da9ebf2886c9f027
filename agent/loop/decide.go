package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/agent/prompt"
)

// decider takes the decisions of the model: calls that are no tools.
type decider struct{ *turn }

// take takes a decision of the model: the functions of MODEL.md that are
// not tools. The arguments fit their schema.
func (d decider) take(ctx context.Context, view *agent.Run, c agent.OpenCall, args json.RawMessage) error {
	var err error
	switch c.Name {
	case "reply":
		err = read(args, func(a spoken) { d.answer(c, a.Text) })
	case "ask_human":
		err = read(args, func(a inquiry) { d.clarify(view, c, a.Questions) })
	case "submit_plan":
		err = read(args, func(a submission) { planner(d).submit(view, c, a) })
	case "finish_task":
		err = read(args, func(a finish) { d.finish(view, c, a) })
	case "fail_task":
		err = read(args, func(a failure) { d.fail(c, a) })
	case "add_tasks", "take_message", agent.CallSchedule, agent.CallRead, agent.CallFindTools, agent.CallToolHelp, "submit_summary":
		return d.consult(ctx, view, c, args)
	case agent.CallStatus:
		return d.status(view, c)
	case agent.CallNothing:
		d.reply(c, "Nothing was done.")
	case "submit_reflection":
		err = read(args, func(l agent.Ledger) { supervisor(d).weighLedger(view, c, l) })
	case "judge_task":
		err = read(args, func(a agent.TaskJudged) { d.judge(view, c, a) })
	case "answer_question":
		err = read(args, func(a heardQuestion) { hearer(d).answer(*view, c, a) })
	case "submit_report":
		err = read(args, func(a agent.Reported) { d.report(view, c, a) })
	default:
		err = errors.New("it is not built in")
	}
	d.misread(c, err)
	return nil
}

// consult takes a decision for which the store is asked.
func (d decider) consult(ctx context.Context, view *agent.Run, c agent.OpenCall, args json.RawMessage) error {
	var err, misread error
	switch c.Name {
	case agent.CallSchedule:
		misread = read(args, func(o agent.ScheduleOrder) { err = d.schedule(ctx, view, c, o) })
	case "take_message":
		misread = read(args, func(a heardWords) { err = hearer(d).take(ctx, *view, c, a) })
	case agent.CallRead:
		misread = read(args, func(r reading) { err = compacter(d).show(ctx, view, c, r) })
	case agent.CallFindTools, agent.CallToolHelp:
		misread = read(args, func(a wanted) { offerer(d).answer(ctx, view, c, a) })
	case "submit_summary":
		misread = read(args, func(s prompt.Summary) { err = compacter(d).take(ctx, view, c, s) })
	default:
		misread = read(args, func(a addition) { err = planner(d).extend(ctx, c, a) })
	}
	d.misread(c, misread)
	return err
}

// misread refuses a call whose arguments cannot be read, if they cannot.
func (d decider) misread(c agent.OpenCall, err error) {
	if err != nil {
		// Go matches names in any case, schemas do not: what passed the schema may still not read
		d.refuse(c, fmt.Sprintf("the arguments of %s do not fit: %v. Write the names of the fields exactly as the schema has them.", c.Name, err))
	}
}

func read[T any](args json.RawMessage, use func(T)) error {
	var a T
	if err := json.Unmarshal(args, &a); err != nil {
		return err
	}
	use(a)
	return nil
}

// The arguments of the decision functions (MODEL.md).
type spoken struct {
	Text string `json:"text"`
}

type inquiry struct {
	Questions []agent.Question `json:"questions"`
}

type failure struct {
	Reason string         `json:"reason"`
	Kind   agent.FailKind `json:"kind"`
}

type finish struct {
	Summary    string         `json:"summary"`
	Outputs    []agent.Output `json:"outputs"`
	Confidence float64        `json:"confidence"`
}

type addition struct {
	Tasks  []agent.Task `json:"tasks"`
	Reason string       `json:"reason"`
}

type submission struct {
	agent.Plan
	Reason string
	Inputs map[string]string // of the playbook
	shape  plan.Shape
	found  []agent.PlanFinding // what the typed plan cannot carry
}

// UnmarshalJSON reads a plan in any shape that is known. Roles and stages are
// what files say, never a model.
func (s *submission) UnmarshalJSON(data []byte) error {
	var more struct {
		Reason string            `json:"reason"`
		Inputs map[string]string `json:"inputs"`
	}
	p, shape, found, err := plan.Parse(data)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &more); err != nil {
		return err
	}
	p.Roles, p.Stages = nil, nil
	*s = submission{Plan: p, Reason: more.Reason, Inputs: more.Inputs, shape: shape, found: found}
	return nil
}

type heardWords struct {
	Meaning agent.Meaning      `json:"meaning"`
	Of      agent.CheckpointID `json:"of"`
	Reason  string             `json:"reason"`
	// Message is the number of the words in the request, from 1; 0: the first
	// that nothing was said of yet.
	Message int `json:"message"`
	// Schedule is what the words order for later. Without a goal it is the run's.
	Schedule agent.ScheduleOrder `json:"schedule"`
}

type heardQuestion struct {
	Text    string   `json:"text"`
	Cites   []uint64 `json:"cites"`
	Unknown bool     `json:"unknown"`
}

// answer ends a run whose message needed no work.
func (d decider) answer(c agent.OpenCall, text string) {
	headline, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	d.reply(c, "delivered")
	d.event(agent.Reported{Headline: headline, Body: text})
}

// schedule ends a run whose message ordered something for later. The schedule is
// there with the run's report or not at all.
func (d decider) schedule(ctx context.Context, view *agent.Run, c agent.OpenCall, o agent.ScheduleOrder) error {
	b := view.Brief
	a, err := d.Scheduler.Schedule(ctx, view.ID, agent.Ordered{By: b.Requester, Where: b.ReplyTo, Direct: b.Direct, Zone: b.Zone, At: view.Started}, o)
	switch {
	case err != nil:
		return err
	case a.Wrong != "":
		d.refuse(c, a.Wrong)
		return nil
	case a.Refused != "":
		d.answer(c, a.Refused)
		return nil
	}
	for name, value := range a.Set {
		d.names = withName(d.names, name, value)
	}
	d.reply(c, "kept")
	d.event(agent.Reported{Headline: a.Text, Body: a.Text, Schedule: &a.Made})
	return nil
}

// clarify asks the person, and turns the decision into the call's reply.
func (d decider) clarify(view *agent.Run, c agent.OpenCall, questions []agent.Question) {
	if check, asked := view.Checks[c.Checkpoint]; asked {
		d.reply(c, answers(check))
		return
	}
	for i := range questions {
		if questions[i].ID == "" {
			questions[i].ID = fmt.Sprintf("q%d", i+1)
		}
		questions[i].Choices = agent.OwnChoices(questions[i].Choices)
	}
	d.openCheckpoint(view, agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question", Effect: c.Effect,
		Questions: questions, Choices: choices(questions)})
}

// choices are the words that decide a question: what its buttons show.
func choices(questions []agent.Question) []string {
	list := []string{agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}
	if len(questions) == 1 {
		list = append(slices.Clone(questions[0].Choices), list...)
	}
	return list
}

// answers is what the model is told of a decided question.
func answers(c agent.Checkpoint) string {
	d := c.Decision
	switch d.Decision {
	case agent.DecideExpired:
		return "expired: nobody answered in time. Decide yourself and state your assumption."
	case agent.DecideForMe:
		return d.By + " leaves the decision to you. State your assumption."
	case agent.DecideDeny:
		return "denied by " + d.By + ": " + d.Text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Answered by %s.\n", d.By)
	for i, q := range c.Questions {
		a := d.Answers[q.ID]
		if a == "" && i == 0 && d.Decision != agent.DecideAnswer {
			a = d.Decision // a choice's own word
		}
		if a != "" {
			fmt.Fprintf(&b, "%s\n→ %s\n", q.Question, a)
		}
	}
	if d.Text != "" {
		b.WriteString(d.Text + "\n")
	}
	return b.String()
}

func (d decider) fail(c agent.OpenCall, a failure) {
	id, _ := d.lease.Strand.Task()
	if !slices.Contains([]agent.FailKind{agent.FailImpossible, agent.FailBlocked, agent.FailBudget}, a.Kind) {
		a.Kind = agent.FailOther
	}
	d.reply(c, "noted")
	d.add(map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}, agent.Event{Strand: d.lease.Strand,
		Body: agent.TaskEnded{Task: id, State: agent.TaskFailed, Outputs: []agent.Output{}, Reason: a.Reason, Fail: a.Kind}})
}

// finish takes a task's result to the judge, once every announced output is there.
func (d decider) finish(view *agent.Run, c agent.OpenCall, a finish) {
	id, _ := d.lease.Strand.Task()
	task, _ := view.Plan.Task(id)
	var missing []string
	for _, o := range task.Outputs {
		i := slices.IndexFunc(a.Outputs, func(d agent.Output) bool { return d.Name == o.Name })
		if i < 0 || (a.Outputs[i].Value == nil && a.Outputs[i].File == "") {
			missing = append(missing, o.Name)
		}
	}
	if len(missing) > 0 {
		d.refuse(c, "these announced outputs are missing: "+strings.Join(missing, ", ")+". Deliver each with a value or a file.")
		return
	}
	for _, o := range a.Outputs {
		if o.File == "" || d.File == nil {
			continue
		}
		if err := d.File(view.Brief.Folder, o.File); err != nil {
			d.refuse(c, fmt.Sprintf("the output %s names a file that is not there: %v", o.Name, err))
			return
		}
	}
	d.event(agent.TaskFinishing{Task: id, Effect: c.Effect, Summary: a.Summary, Outputs: a.Outputs, Confidence: a.Confidence})
}

// judge takes the verdict. A rejected task's worker hears why.
func (d decider) judge(view *agent.Run, c agent.OpenCall, a agent.TaskJudged) {
	finishing := view.Strands.Of(d.lease.Strand).Finishing
	d.reply(c, "noted")
	a.Task, a.Checked = finishing.Task, "a model read the result and what its tools returned"
	if task, _ := view.Plan.Task(a.Task); task.Reviewer != "" {
		a.Checked = "reviewed by a model in the role " + task.Reviewer
	}
	d.event(a)
	if a.Accepted {
		return
	}
	text := "not accepted"
	if len(a.Reasons) > 0 {
		text += ": " + strings.Join(a.Reasons, "; ")
	}
	if len(a.Missing) > 0 {
		text += ". Missing: " + strings.Join(a.Missing, "; ")
	}
	d.event(agent.CallReplied{Effect: finishing.Effect, Text: text})
}

func (d decider) report(view *agent.Run, c agent.OpenCall, a agent.Reported) {
	d.reply(c, "delivered")
	for _, f := range agent.Copies(*view, a) {
		d.event(f)
	}
	a.Artifacts = agent.FilesOf(*view, a)
	if how := agent.Checked(*view); how != "" {
		a.Body = strings.TrimRight(a.Body, "\n") + "\n\n" + how
	}
	d.event(a)
}

// status answers a look at where things stand, from the fold: it asks nobody
// and changes nothing. Titles and names in it are a model's words, so it is
// framed as data.
func (d decider) status(view *agent.Run, c agent.OpenCall) error {
	id, _ := d.lease.Strand.Task()
	line, err := json.Marshal(prompt.StandingOf(*view, id))
	if err != nil {
		return fmt.Errorf("write down where run %s stands: %w", view.ID, err)
	}
	d.reply(c, "Where things stand, from Deckhand's own records:\n"+prompt.Frame(string(line), agent.Untrusted))
	return nil
}

// hearer takes in what people's words mean.
type hearer struct{ *turn }

// Bounds of what is kept of a model's words about a person's.
const (
	maxHeardReason = 200  // characters
	maxHeardAnswer = 2000 // characters
	maxHeardCites  = 20
)

// take takes in the meaning of one person's words. A question is answered next.
func (h hearer) take(ctx context.Context, view agent.Run, c agent.OpenCall, a heardWords) error {
	h.reply(c, "noted")
	w, known := asked(view, a.Message)
	if !known {
		return nil // corrected or taken back meanwhile
	}
	if a.Meaning == agent.MeansQuestion && h.steers(view, w) {
		h.understand(view, agent.Event{Strand: agent.Hear, Body: agent.Understood{Said: w.Seq, Meaning: a.Meaning, Later: true}})
		return nil
	}
	b := agent.Understood{Meaning: a.Meaning, Of: a.Of, Reason: prompt.Shorten(a.Reason, maxHeardReason)}
	if a.Meaning == agent.MeansSchedule && h.steers(view, w) {
		if err := h.schedule(ctx, view, w, a.Schedule, &b); err != nil {
			return err
		}
	}
	h.understand(view, agent.Means(view, w, b, h.steers(view, w))...)
	return nil
}

// schedule keeps what the words order for later, with what they mean or not at all.
func (h hearer) schedule(ctx context.Context, view agent.Run, w agent.Words, o agent.ScheduleOrder, b *agent.Understood) error {
	from, may := w.Orders(view)
	if !may || h.Scheduler == nil || strings.TrimSpace(o.When) == "" {
		return nil // how to say it is answered
	}
	o.Goal, o.Report = cmp.Or(strings.TrimSpace(o.Goal), view.Brief.Goal), false
	a, err := h.Scheduler.Schedule(ctx, view.ID, from, o)
	if err != nil {
		return err
	}
	if b.Text = cmp.Or(a.Refused, a.Wrong); b.Text != "" {
		return nil
	}
	for name, value := range a.Set {
		h.names = withName(h.names, name, value)
	}
	b.Schedule = &a.Made
	return nil
}

// answer takes in the answer to a person's question.
func (h hearer) answer(view agent.Run, c agent.OpenCall, a heardQuestion) {
	h.reply(c, "delivered")
	w, known := asked(view, 0)
	if !known {
		return
	}
	b := agent.Understood{Meaning: agent.MeansQuestion}
	if text := strings.TrimSpace(a.Text); !a.Unknown {
		b.Text = prompt.Shorten(text, maxHeardAnswer)
		a.Cites = slices.DeleteFunc(a.Cites, func(seq uint64) bool { return seq == 0 || seq > view.Seq })
		b.Cites = a.Cites[:min(len(a.Cites), maxHeardCites)]
	}
	h.understand(view, agent.Means(view, w, b, h.steers(view, w))...)
}

// understand writes down what words mean: every strand may have waited for it.
func (h hearer) understand(view agent.Run, events ...agent.Event) {
	h.add(view.Strands.Wakeful(), events...)
}

// steers reports whether the author of the words may steer the run now.
func (h hearer) steers(view agent.Run, w agent.Words) bool {
	return w.Trusted && (h.Steers == nil || h.Steers(view, w.By, w.Unread.Also))
}

// miss takes the words that are to be understood for what they are without a
// model.
func (h hearer) miss(view agent.Run, why string) {
	d := agent.Misheard(view, why)
	h.add(d.Wake, d.Events...)
}

// asked are the words that the model speaks of by their number, or the first of
// which it said nothing yet.
func asked(view agent.Run, number int) (w agent.Words, known bool) {
	list := view.Unanswered()
	if number > 0 {
		if number > len(view.Listening) {
			return w, false
		}
		list = slices.DeleteFunc(list, func(w agent.Words) bool { return w.Seq != view.Listening[number-1] })
	}
	if len(list) == 0 {
		return w, false
	}
	return list[0], true
}
