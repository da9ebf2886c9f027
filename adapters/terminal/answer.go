package terminal

// This file decides what a typed line means: a control word, something said
// to the run, or the answer to an open question, given at once, point by
// point or in an editor.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// dialogue is what the person is in the middle of.
type dialogue struct {
	sent    agent.CheckpointID // decided here; the journal does not show it yet
	check   agent.CheckpointID // whose points are asked one by one
	answers map[string]string
	editing bool // the next line is JSON for the open question
	draft   string
	typed   string // of the line that was begun
}

// follow forgets what the journal has settled.
func (d *dialogue) follow(r agent.Run) {
	if d.sent != "" && !asks(r, d.sent) {
		d.sent = ""
	}
	if d.check != "" && !asks(r, d.check) {
		d.check, d.answers, d.editing, d.draft = "", nil, false, ""
	}
}

// on begins the dialogue about a question.
func (d *dialogue) on(c *agent.Checkpoint) {
	if d.check != c.ID {
		d.check, d.answers, d.editing, d.draft = c.ID, map[string]string{}, false, ""
	}
}

// next is the first point without an answer, nil if there is none.
func (d *dialogue) next(c *agent.Checkpoint) (q *agent.Question, number int) {
	for i := range c.Questions {
		if d.check != c.ID || d.answers[c.Questions[i].ID] == "" {
			return &c.Questions[i], i + 1
		}
	}
	return nil, 0
}

// work looks at the lines that were entered, in order. A line that may be the
// answer to a question that is not asked yet waits for it.
func (w *watcher) work(ctx context.Context) {
	for len(w.queue) > 0 && w.began && w.run.Ended == nil && w.line(ctx, w.queue[0]) {
		w.queue = w.queue[1:]
	}
	if w.over && !w.left && len(w.queue) == 0 && w.began && w.run.Ended == nil {
		w.left = true
		if w.Leave && !w.run.Alone {
			w.departing = w.control(ctx, agent.WordLeave)
		}
	}
}

// line takes one line; false keeps it for later. What a person typed to one question
// answers no other; a script's lines answer one after the other.
func (w *watcher) line(ctx context.Context, e entered) (taken bool) {
	check, line := current(w.run), strings.TrimSpace(e.line)
	switch {
	case w.talk.sent != "":
		return false
	case w.word(ctx, check, strings.ToLower(line)):
	case check != nil && e.about != "" && e.about != check.ID && w.TTY && !w.JSON && line != "":
		w.face.notice("that was typed before this question was there, so it answers nothing; type it again if you mean this one")
	case w.talk.editing && check != nil:
		w.edited(ctx, *check, line)
	case line == "":
	case check == nil:
		return w.unasked(ctx, line)
	default:
		w.asked(ctx, check, line)
	}
	return true
}

// unasked takes a line while no question is open: a word to the run, or an
// answer that names its question.
func (w *watcher) unasked(ctx context.Context, line string) (taken bool) {
	text, speaks := strings.CutPrefix(line, "say ")
	switch {
	case strings.HasPrefix(line, "{"):
		w.decide(ctx, line)
	case speaks:
		w.say(ctx, text)
	case w.TTY && !w.JSON:
		w.say(ctx, line)
	default:
		return false
	}
	return true
}

// asked takes a line while a question is open.
func (w *watcher) asked(ctx context.Context, check *agent.Checkpoint, line string) {
	text, speaks := strings.CutPrefix(line, "say ")
	switch word := strings.ToLower(line); {
	case speaks && check.Ask == agent.CheckStuck:
		w.hint(ctx, *check, text)
	case speaks && check.Ask != agent.CheckClarify:
		w.say(ctx, text)
	case !w.JSON && (word == "?" || word == "why" || word == "why?"):
		w.face.show(drawing{lead: "  "}.card(w.Telling.Why(w.run, *check)))
	case w.TTY && !w.JSON && several(check) && !strings.HasPrefix(line, "{"):
		w.point(ctx, check, line)
	default:
		w.decide(ctx, line)
	}
}

// word obeys the control words. They come before everything that a line could
// mean, except where the question itself offers the same word.
func (w *watcher) word(ctx context.Context, check *agent.Checkpoint, word string) bool {
	if check != nil && word == agent.DecideCancel {
		if _, offered := chosen(check.Choices, word); offered {
			return false
		}
	}
	switch word {
	case "pause", "stop":
		w.control(ctx, agent.WordPause)
	case "resume":
		w.control(ctx, agent.WordResume)
	case "cancel":
		w.control(ctx, agent.WordCancel)
	case "status":
		w.face.show(standing(w.Telling, w.run, time.Now()))
	case "help":
		w.face.show(help)
	default:
		return false
	}
	return true
}

var help = []row{
	say("pause (or stop), resume, cancel: control the run"),
	say("status: where it stands"),
	say("say TEXT: tell the agent something; without a question open, any other line does the same"),
	say("to answer a question: a choice, its number or its key; n REASON to deny with a reason; ? for why"),
}

func (w *watcher) control(ctx context.Context, word agent.Word) bool {
	err := w.Runs.Control(ctx, w.Run, w.person(), agent.RunControlled{Word: word})
	return w.told(string(word), err)
}

// person is who types.
func (w *watcher) person() bot.Person { return bot.Person{ID: w.By, Full: true} }

func (w *watcher) say(ctx context.Context, text string) {
	w.told("your words", w.Runs.Say(ctx, w.Run, w.person(), text))
}

// told reports whether something arrived, and tells the person if not.
func (w *watcher) told(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, context.Canceled):
	default:
		w.face.notice(fmt.Sprintf("%s did not arrive: %v", what, err))
	}
	return false
}

// decide reads the line as the answer to a question, and commits it.
func (w *watcher) decide(ctx context.Context, line string) {
	d, err := w.answer(line)
	if err != nil {
		text := err.Error()
		if w.TTY && !w.JSON && errors.Is(err, bot.ErrNotAnAnswer) {
			text += "; help lists what else may be typed"
		}
		w.face.notice(text)
		return
	}
	check := w.run.Checks[d.ID]
	if d.Decision == agent.DecideEdit && len(d.Arguments) == 0 && d.Plan == nil {
		w.edit(ctx, check)
		return
	}
	w.send(ctx, d)
}

// hint lets a run that is stuck try again in another way.
func (w *watcher) hint(ctx context.Context, check agent.Checkpoint, text string) {
	d, err := w.Hint(check, text, w.By)
	if err != nil {
		w.face.notice(err.Error())
		return
	}
	w.send(ctx, d)
}

func (w *watcher) send(ctx context.Context, d agent.CheckpointDecided) {
	if w.told("the answer", w.Runs.Decide(ctx, w.person(), d)) {
		w.talk.sent = d.ID
	}
}

// answer reads a line, with what the terminal allows beyond Config.Answer:
// a reason after a denial, and choices written with other spaces.
func (w *watcher) answer(line string) (agent.CheckpointDecided, error) {
	check := current(w.run)
	if check == nil || strings.HasPrefix(line, "{") {
		d, err := w.Answer(w.run, line, w.By)
		if d.Decision == agent.DecideAnswer && d.Text == agent.DecideAnswer {
			d.Text = "" // the name of the decision is no answer
		}
		return d, err
	}
	reason := ""
	if head, rest, more := strings.Cut(line, " "); more && check.Ask != agent.CheckClarify && check.Ask != agent.CheckStuck {
		switch strings.ToLower(strings.TrimRight(head, ",:")) {
		case "n", "no", "deny":
			line, reason = "n", strings.TrimSpace(rest)
		}
	}
	if choice, is := chosen(check.Choices, line); is {
		line = choice
	}
	if check.Ask == agent.CheckClarify && line == agent.DecideAnswer {
		return agent.CheckpointDecided{}, fmt.Errorf("%w: type the answer itself", bot.ErrNotAnAnswer)
	}
	d, err := w.Answer(w.run, line, w.By)
	if reason != "" {
		d.Text = reason
	}
	return d, err
}

// point takes the answer to one of several points; with the last one all go out.
func (w *watcher) point(ctx context.Context, check *agent.Checkpoint, line string) {
	w.talk.on(check)
	if choice, is := chosen([]string{agent.DecideForMe, agent.DecideCancel}, line); is && (choice == agent.DecideCancel || len(w.talk.answers) == 0) {
		w.decide(ctx, choice)
		return
	}
	q, _ := w.talk.next(check)
	if q == nil { // sending them failed before
		w.talk.answers = map[string]string{}
		q = &check.Questions[0]
	}
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(q.Choices) {
		line = q.Choices[n-1]
	}
	w.talk.answers[q.ID] = line
	if q, _ := w.talk.next(check); q == nil {
		w.send(ctx, agent.CheckpointDecided{ID: check.ID, By: w.By, Decision: agent.DecideAnswer, Answers: w.talk.answers})
	}
}

// edit lets the person change what the question is about.
func (w *watcher) edit(ctx context.Context, check agent.Checkpoint) {
	if !w.TTY || w.JSON {
		w.face.notice(fmt.Sprintf(`%v: "edit" carries the new arguments: {"checkpoint": %q, "decision": "edit", %q: {…}}`,
			bot.ErrNotAnAnswer, check.ID, subject(check)))
		return
	}
	w.talk.on(&check)
	if w.Editor == nil {
		w.talk.editing = true
		w.face.notice("type the " + subject(check) + " as JSON on one line, or set EDITOR before the start; an empty line leaves the question as it is")
		return
	}
	text := w.talk.draft
	if text == "" {
		text = original(check)
	}
	w.face.suspend()
	w.restore()
	text, err := w.Editor(ctx, text)
	w.quiet()
	if err != nil {
		w.face.notice(fmt.Sprintf("the editor failed, nothing was changed: %v", err))
		return
	}
	w.edited(ctx, check, text)
}

// edited commits the edited text, unless it is empty, unchanged or no JSON.
func (w *watcher) edited(ctx context.Context, check agent.Checkpoint, text string) {
	w.talk.editing = false
	text = strings.TrimSpace(text)
	if text == "" || text == strings.TrimSpace(original(check)) {
		w.talk.draft = ""
		w.face.notice("nothing was changed; the question is still open")
		return
	}
	d := agent.CheckpointDecided{ID: check.ID, By: w.By, Decision: agent.DecideEdit}
	var err error
	if check.Ask == agent.CheckPlan {
		err = json.Unmarshal([]byte(text), &d.Plan)
	} else {
		var object map[string]json.RawMessage
		err = json.Unmarshal([]byte(text), &object)
		d.Arguments = json.RawMessage(text)
	}
	if err != nil {
		w.talk.draft = text
		w.face.notice(fmt.Sprintf("this is no JSON object (%v); e opens it again, the question is still open", err))
		return
	}
	w.send(ctx, d)
}

// subject is what an edit of the question changes.
func subject(c agent.Checkpoint) string {
	if c.Ask == agent.CheckPlan {
		return "plan"
	}
	return "arguments"
}

// original is what there is to edit, as JSON for people.
func original(c agent.Checkpoint) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	var err error
	if c.Ask == agent.CheckPlan {
		err = enc.Encode(c.Plan)
	} else {
		err = json.Indent(&b, c.Arguments, "", "  ")
		b.WriteByte('\n')
	}
	if err != nil { // the person sees what there is
		return string(c.Arguments)
	}
	return b.String()
}
