package moments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// scene is a moment while it is played: a story, and what people see of it, as
// steps. A mistake in a scene ends it with an error.
type scene struct {
	*story

	chat  *intake.Chat
	acts  int
	form  *bot.Form // that is open
	last  bot.Card  // that was posted
	steps []Step
}

// story is what happens in the runs of a scene: it goes into a store.
type story struct {
	World

	store *store
	desk  *runs.Client
	goal  string
	at    string // the thread's id
	run   agent.RunID
	begun uint64 // the journal's entry behind which the moment begins
	calls int
	open  map[agent.StrandID]agent.ModelAsked // calls without an answer
	err   error
}

// theGoal is what most scenes are about.
const theGoal = "Write the release notes for v2.4 from the merged pull requests to notes/v2.4.md"

// played is an entry in a world.
func played(w World, e entry) (Moment, error) {
	s := &scene{story: &story{World: w, store: newStore(), goal: theGoal, at: "17.1", open: map[agent.StrandID]agent.ModelAsked{}}}
	s.desk = &runs.Client{Journals: s.store}
	if !w.terminal() {
		s.desk.Authority = authority.Authority{Approvers: []string{w.Alice.ID}, Operators: []string{w.Alice.ID}, Admins: []string{w.Dana.ID}}
	}
	s.chat = intake.New(intake.Config{Runs: s.desk, Store: s.store, CatchUp: 24 * time.Hour, Zone: "Europe/Berlin",
		Platforms: []bot.Platform{offstage{name: w.Place.Platform}},
		Brief:     func(string) (agent.RunStarted, error) { return s.brief(), nil }})
	e.play(s)
	s.tell()
	if s.err != nil {
		return Moment{}, fmt.Errorf("moment %s: %w", e.name, s.err)
	}
	return Moment{Name: e.name, Title: e.title, Goal: s.goal, Steps: s.steps}, nil
}

// brief is what is decided about every run before it starts.
func (s *story) brief() agent.RunStarted {
	return agent.RunStarted{Limits: agent.Limits{USD: 2 * agent.Dollar, Time: 2 * time.Hour}, Autonomy: agent.AskRisky,
		PlanApproval: agent.ApprovePlanEffects, Expires: 24 * time.Hour, Slots: 4}
}

// thread is where the scene's run lives.
func (s *story) thread() bot.Address { return s.Place.At(s.at) }

// starts begins the run of the goal, as Ann asked for it.
func (s *story) starts(change ...func(b *agent.RunStarted)) {
	b := s.brief()
	b.Goal, b.Requester = s.goal, s.Ann.ID
	if !s.terminal() {
		s.desk.AnswerAt(&b, s.thread(), false)
	}
	for _, f := range change {
		f(&b)
	}
	s.opens(runs.NewRun{Brief: b})
}

// opens begins a run.
func (s *story) opens(o runs.NewRun) {
	run, err := s.desk.Begin(context.Background(), o)
	s.fails(err)
	s.run = run
}

// fails keeps the first mistake.
func (s *story) fails(err error) {
	if s.err == nil && err != nil {
		s.err = err
	}
}

// later lets time pass.
func (s *story) later(d time.Duration) { s.store.now = s.store.now.Add(d) }

// here is where the moment begins: what happened before is told by no terminal.
func (s *story) here() { s.begun = s.fold().Seq }

// fold is the run as it stands.
func (s *story) fold() agent.Run {
	r, err := s.desk.Load(context.Background(), s.run)
	s.fails(err)
	return r
}

// happens is what a strand journals.
func (s *story) happens(strand agent.StrandID, bodies ...agent.Body) {
	for _, b := range bodies {
		_, err := s.store.Commit(context.Background(), agent.Commit{Run: s.run, Events: []agent.Event{{Strand: strand, Body: b}}})
		s.fails(err)
	}
}

// thinks is a model call of the strand that took a few seconds and cost a little.
func (s *story) thinks(strand agent.StrandID, purpose llm.Purpose) {
	s.thinking(strand, purpose)
	s.later(4 * time.Second)
	s.answered(strand, 14_200_000)
}

// thinking is a model call that has no answer yet.
func (s *story) thinking(strand agent.StrandID, purpose llm.Purpose) {
	s.calls++
	s.open[strand] = agent.ModelAsked{Call: string(strand) + "." + strconv.Itoa(s.calls), Purpose: purpose}
	s.happens(strand, s.open[strand])
}

// answered is the answer to the strand's model call, which cost so much.
func (s *story) answered(strand agent.StrandID, cost agent.Nano) {
	asked := s.open[strand]
	delete(s.open, strand)
	s.happens(strand, agent.ModelAnswered{Call: asked.Call, Purpose: asked.Purpose, Prompt: 3100, Completion: 240, Cost: &cost, Took: 4 * time.Second,
		Message: &llm.Message{Role: "assistant"}})
}

// unanswered is what became of the strand's model call instead of an answer.
func (s *story) unanswered(strand agent.StrandID, b agent.ModelAnswered) {
	asked := s.open[strand]
	delete(s.open, strand)
	b.Call, b.Purpose, b.Cost = asked.Call, asked.Purpose, new(agent.Nano)
	s.happens(strand, b)
}

// opensQuestion lets a strand ask people, and says that it was posted.
func (s *story) opensQuestion(strand agent.StrandID, c agent.CheckpointOpened) {
	if c.ID == "" {
		c.ID = agent.CheckpointID(string(s.run) + "-q")
	}
	c.Expires = s.fold().Brief.Expiry(s.store.now)
	s.happens(strand, c)
	p := agent.Post{Key: agent.KeyAsk(c.ID), Kind: agent.PostCheckpoint, About: string(c.ID)}
	s.happens(agent.Voice, p.Intent(time.Time{}))
}

// check is the question that was asked last.
func (s *story) check() agent.Checkpoint {
	r := s.fold()
	if len(r.Asked) == 0 {
		s.fails(errors.New("nothing was asked"))
		return agent.Checkpoint{}
	}
	return r.Checks[r.Asked[len(r.Asked)-1]]
}

// decides is a decision about that question.
func (s *story) decides(by bot.Person, word, text string) {
	c := s.check()
	s.happens(c.Strand, agent.CheckpointDecided{ID: c.ID, Decision: word, By: by.ID, Text: text, Covers: c.Writes})
}

// posts is a message in the thread.
func (s *scene) posts(c bot.Card) {
	if !s.terminal() {
		s.last = c
		s.steps = append(s.steps, Posted{Card: c})
	}
}

// known says that another moment shows what was posted so far.
func (s *scene) known() {
	for i, step := range s.steps {
		if p, is := step.(Posted); is {
			p.Known = true
			s.steps[i] = p
		}
	}
}

// edits is a message as it was changed.
func (s *scene) edits(c bot.Card) {
	if !s.terminal() {
		s.steps = append(s.steps, Edited{c})
	}
}

// The cards of the run as they stand.
func (s *scene) card()    { s.posts(card.Live(s.fold(), s.store.now)) }
func (s *scene) cardNow() { s.edits(card.Live(s.fold(), s.store.now)) }
func (s *scene) question() {
	s.posts(card.Question(s.fold(), s.check(), s.store.now, s.desk.Authority.Audience))
}
func (s *scene) reminder() {
	s.posts(card.Reminder(s.fold(), s.check(), s.store.now, s.desk.Authority.Audience))
}
func (s *scene) closed() { s.edits(card.Closed(s.fold(), s.check())) }
func (s *scene) report() { s.posts(card.Report(s.fold())) }

// receives is what somebody does, and what comes of it.
func (s *scene) receives(by bot.Person, where bot.Address, act bot.Act) bot.Answer {
	s.acts++
	in := bot.Inbound{Keys: []string{"act/" + strconv.Itoa(s.acts)}, At: s.store.now, By: by, Where: where, Act: act}
	if _, said := act.(bot.Said); said {
		in.Message = where.At("18." + strconv.Itoa(s.acts))
	}
	return s.receivesEvent(in)
}

func (s *scene) receivesEvent(in bot.Inbound) bot.Answer {
	a, err := s.chat.Receive(context.Background(), in)
	s.fails(err)
	return a
}

// says is a message to the bot in the run's thread.
func (s *scene) says(by bot.Person, text string) {
	if s.terminal() {
		return
	}
	s.steps = append(s.steps, Said{By: by, Text: text, Answer: s.receives(by, s.thread(), bot.Said{Text: text, To: true})})
}

// asks is a message to the bot in a thread in which no run lives.
func (s *scene) asks(by bot.Person, text string) {
	if !s.terminal() {
		s.steps = append(s.steps, Said{By: by, Text: text, Answer: s.receives(by, s.Place.At("16.1"), bot.Said{Text: text, To: true})})
	}
}

// talks is a message among people in the run's thread.
func (s *scene) talks(by bot.Person, text string) {
	if !s.terminal() {
		s.steps = append(s.steps, Said{By: by, Text: text, Aloud: true, Answer: s.receives(by, s.thread(), bot.Said{Text: text})})
	}
}

// presses is a click on a button of the message that was posted last.
func (s *scene) presses(by bot.Person, label string) {
	if s.terminal() {
		return
	}
	for _, p := range s.last.Parts {
		list, are := p.(bot.Buttons)
		i := slices.IndexFunc(list.List, func(b bot.Button) bool { return b.Label == label })
		if !are || i < 0 {
			continue
		}
		a := s.receives(by, s.thread(), bot.Pressed{Button: list.List[i]})
		s.form = a.Form
		s.steps = append(s.steps, Pressed{By: by, Label: label, Answer: a})
		return
	}
	s.fails(fmt.Errorf("there is no button %q", label))
}

// rates is a click on a thumb of the report.
func (s *scene) rates(by bot.Person, label, word string) {
	if s.terminal() {
		return
	}
	a := s.receives(by, s.thread(), bot.Pressed{Button: bot.Button{Act: bot.ActRate, ID: string(s.run), Word: word}})
	s.form = a.Form
	s.steps = append(s.steps, Pressed{By: by, Label: label, Answer: a})
}

// fills sends in the form that is open.
func (s *scene) fills(by bot.Person, values map[string]string) {
	if s.terminal() {
		return
	}
	if s.form == nil {
		s.fails(errors.New("no form is open"))
		return
	}
	s.steps = append(s.steps, Filled{By: by, Values: values, Answer: s.receives(by, s.thread(), bot.Filled{Form: s.form.ID, Values: values})})
}

// visits is a look at the bot's own page.
func (s *scene) visits(by bot.Person) {
	if s.Home {
		s.steps = append(s.steps, Visited{By: by, Answer: s.receives(by, bot.Address{Platform: s.Place.Platform, Workspace: s.Place.Workspace}, bot.Visited{})})
	}
}

// tell is what a terminal prints of the run.
func (s *scene) tell() {
	if !s.terminal() || s.run == "" || s.err != nil {
		return
	}
	events := s.store.journals[s.run]
	if uint64(len(events)) > s.begun {
		s.steps = append(s.steps, Told{Events: events, After: s.begun, Now: s.store.now})
	}
}

// offstage is the platform as far as the chat asks it something: links and
// direct conversations.
type offstage struct {
	bot.Platform

	name string
}

// Name implements bot.Platform.
func (o offstage) Name() string { return o.name }

// Direct implements bot.Director.
func (o offstage) Direct(_ context.Context, principal string) (bot.Address, error) {
	return bot.Address{Platform: o.name, Workspace: "T", Channel: "D" + principal[len(o.name)+1:]}, nil
}
