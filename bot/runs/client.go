package runs

// This file holds the Client, through which chat and the command line act on
// runs: start, decide, control, add words, rate, watch. It refuses what a
// person may not do and makes each act one commit.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/fold"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/playbook"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The Client, and everything that it commits.

// Errors of a Client. Each is wrapped with what it was about.
var (
	ErrNotAllowed   = errors.New("not allowed")
	ErrNoCheckpoint = errors.New("no such checkpoint")
	ErrDecided      = errors.New("already decided")
	ErrVoted        = errors.New("you approved already")
	ErrEnded        = errors.New("the run has ended")
	ErrNotEnded     = errors.New("the run has not ended yet")
	ErrEmptyGoal    = errors.New("the goal is empty: say what is to be done")
)

// Journals is what a Client needs of a store.
type Journals interface {
	Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error)
	Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error)
	Runs(ctx context.Context, f agent.RunFilter) ([]agent.RunInfo, error)
	CountRuns(ctx context.Context, f agent.RunFilter) (int, error)
	Await(ctx context.Context, run agent.RunID, after uint64) error
	NewRun(anchor string) agent.RunID
}

// Client is the one way in for people. Everything it does is one commit. It is
// safe for many goroutines.
type Client struct {
	Journals  Journals
	Authority authority.Authority
	// Refuse, when set, is what is written down in place of any work where nobody
	// may have the goal worked on; nil: nothing is.
	Refuse func(goal string) []agent.Body
	// RequesterRaise is by how many percent in all a requester raises a budget of
	// their own run; 0: no bound.
	RequesterRaise int

	once  sync.Once
	folds *fold.Cache[fold.None]
}

// Dedupe is what goes into a commit beside its events.
type Dedupe struct {
	// Once holds keys of the message that it comes from: a key that was used
	// before makes it agent.ErrSeen, and nothing is written.
	Once []string
	// Anchor is what the keys belong to: see agent.Commit.
	Anchor string
	// Set gives names values, as agent.Commit does.
	Set map[string]string
}

// commit is the commit of events of a run as it was seen.
func (d Dedupe) commit(r agent.Run, events ...agent.Event) agent.Commit {
	return agent.Commit{ID: agent.NewID(), Run: r.ID, Seen: r.Seq, Once: d.Once, Anchor: d.Anchor, Set: d.Set, Events: events}
}

// NewRun is how a run begins.
type NewRun struct {
	Dedupe
	Run   agent.RunID // empty: a new one
	Brief agent.RunStarted
	// After follows on the main strand, in the same commit.
	After []agent.Body
	// Given is the plan that the run begins with, nil: the goal's own steps where it is
	// a list of them, else the model plans.
	Given agent.Body
	// Spend is counted with the start, or nothing starts.
	Spend []agent.Spend
}

// ReportRun is a run that posts a report and does nothing else.
func ReportRun(brief agent.RunStarted, headline, body string, artifacts ...string) NewRun {
	brief.Slots, brief.Tick.Report = 1, true
	rep := agent.Reported{Headline: headline, Body: body, Artifacts: append(agent.Texts{}, artifacts...), Skipped: agent.Texts{}}
	return NewRun{Brief: brief, After: []agent.Body{rep, agent.RunEnded{State: agent.RunDone, Cost: new(agent.Nano)}}}
}

// AnswerAt says in a brief where the run answers, and what follows from that
// place where the brief says nothing else: its folder and its quorum.
func (d *Client) AnswerAt(b *agent.RunStarted, to bot.Address, direct bool) {
	b.ReplyTo, b.Direct = to.String(), direct
	b.Folder = cmp.Or(b.Folder, to.Folder())
	b.Quorum = cmp.Or(b.Quorum, d.Authority.Quorum)
}

// Start opens a run and makes it due. Once holds keys of the message that it
// comes from: a key that was used before makes it agent.ErrSeen.
func (d *Client) Start(ctx context.Context, brief agent.RunStarted, once ...string) (agent.RunID, error) {
	return d.Begin(ctx, NewRun{Brief: brief, Dedupe: Dedupe{Once: once}})
}

// Begin opens a run and makes it due. A run that answers in a thread that is
// there already is the one that lives in it from now on.
func (d *Client) Begin(ctx context.Context, o NewRun) (agent.RunID, error) {
	o.Brief.Goal = strings.TrimSpace(o.Brief.Goal)
	if o.Brief.Goal == "" {
		return "", ErrEmptyGoal
	}
	if o.Run == "" {
		o.Run = d.Journals.NewRun(o.Anchor)
	}
	if d.Refuse != nil && len(o.After) == 0 {
		o.After = d.Refuse(o.Brief.Goal)
	}
	if len(o.After) == 0 && o.Given == nil {
		o.Given, _ = playbook.Listed(o.Brief.Goal)
	}
	if len(o.After) == 0 && o.Given != nil {
		o.After = []agent.Body{o.Given}
	}
	c := agent.Commit{ID: agent.NewID(), Run: o.Run, Once: o.Once, Anchor: o.Anchor, Set: map[string]string{}, Spend: o.Spend,
		Events: []agent.Event{{Strand: agent.Main, Body: o.Brief}},
		Wake:   map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}
	maps.Copy(c.Set, o.Set)
	for _, b := range o.After {
		c.Events = append(c.Events, agent.Event{Strand: agent.Main, Body: b})
		if _, over := b.(agent.RunEnded); over { // nothing is left to do but to say so
			c.Ends = true
			for _, counter := range o.Brief.Counted {
				c.Spend = append(c.Spend, agent.Spend{Counter: counter, Nano: -1})
			}
			delete(c.Wake, agent.Main)
		}
	}
	if o.Brief.ReplyTo != "" {
		c.Wake[agent.Voice] = agent.AtOnce
		if !strings.HasSuffix(o.Brief.ReplyTo, ":") {
			c.Set[agent.ThreadName(o.Brief.ReplyTo)] = string(o.Run)
		}
	}
	if _, err := d.Journals.Commit(ctx, c); err != nil {
		return "", fmt.Errorf("start the run: %w", err)
	}
	return o.Run, nil
}

// Question is an open checkpoint of a run, as a person found it.
type Question struct {
	Run   agent.Run
	Check agent.Checkpoint
}

// Decide answers a checkpoint on behalf of a person, with a word that it offers
// and what that word needs; anything else is ErrNotAnAnswer. The first decision
// counts: a later one is ErrDecided. Where a quorum is set, an approval that is
// not the last one needed is kept as a vote, and a second one of the same
// person is ErrVoted.
func (d *Client) Decide(ctx context.Context, by bot.Person, decision agent.CheckpointDecided) error {
	q, err := d.Question(ctx, by, decision.ID)
	if err != nil {
		return err
	}
	_, err = d.Answer(ctx, by, q, decision, Dedupe{})
	return err
}

// Answer decides a question that was loaded before, and says how many more
// approvals are needed.
func (d *Client) Answer(ctx context.Context, by bot.Person, q Question, decision agent.CheckpointDecided, dedupe Dedupe) (more int, err error) {
	decision.ID, decision.By = q.Check.ID, by.ID
	for {
		if err := d.raisable(q, decision.Decision, d.Authority.RaisesFreely(q.Run, by)); err != nil {
			return 0, err
		}
		body, more, err := decisionEvent(q.Run, q.Check, decision, by)
		if err != nil {
			return 0, err
		}
		err = d.Append(ctx, q.Run, q.Check.Strand, body, true, dedupe)
		if !errors.Is(err, agent.ErrStale) {
			return more, err
		}
		q, err = d.Question(ctx, by, decision.ID) // somebody else wrote: look again
		if err != nil {
			return 0, err
		}
	}
}

// Question is the open checkpoint of the id, which the person may decide.
func (d *Client) Question(ctx context.Context, by bot.Person, id agent.CheckpointID) (Question, error) {
	r, err := d.Load(ctx, id.Run())
	if errors.Is(err, agent.ErrNoRun) {
		return Question{}, fmt.Errorf("%w: %s", ErrNoCheckpoint, id)
	}
	if err != nil {
		return Question{}, err
	}
	check, known := r.Checks[id]
	switch {
	case !known:
		err = fmt.Errorf("%w: %s", ErrNoCheckpoint, id)
	case !check.Open():
		err = fmt.Errorf("checkpoint %s: %w: %s by %s", check.ID, ErrDecided, check.Decision.Decision, check.Decision.By)
	case r.Ended != nil:
		err = fmt.Errorf("run %s: %w (%s)", r.ID, ErrEnded, r.Ended.State)
	case !d.Authority.MayDecide(r.Asking(check), check.Ask, by):
		err = fmt.Errorf("%s may not decide this %s of run %s: %w", by.ID, check.Ask, r.ID, ErrNotAllowed)
	}
	return Question{r, check}, err
}

// Control pauses, resumes or cancels a run.
func (d *Client) Control(ctx context.Context, run agent.RunID, by bot.Person, c agent.RunControlled) error {
	return d.ControlOnce(ctx, run, by, c, Dedupe{})
}

// ControlOnce controls a run in a commit with keys and values of its own.
func (d *Client) ControlOnce(ctx context.Context, run agent.RunID, by bot.Person, c agent.RunControlled, dedupe Dedupe) error {
	c.By = by.ID
	for try := 1; ; try++ {
		r, err := d.LoadLive(ctx, run)
		if err != nil {
			return err
		}
		if !d.Authority.MaySteer(r, by) {
			return fmt.Errorf("%s may not %s run %s: %w", by.ID, c.Word, run, ErrNotAllowed)
		}
		err = d.Append(ctx, r, agent.Main, c, try < strictTries, dedupe)
		if !errors.Is(err, agent.ErrStale) {
			return err
		}
	}
}

// LoadLive is a run that has not ended.
func (d *Client) LoadLive(ctx context.Context, run agent.RunID) (agent.Run, error) {
	r, err := d.Load(ctx, run)
	if err == nil && r.Ended != nil {
		err = fmt.Errorf("run %s: %w (%s)", run, ErrEnded, r.Ended.State)
	}
	return r, err
}

// Say adds a person's words to a run. Words of people without authority over
// the run are kept as context that is not trusted.
func (d *Client) Say(ctx context.Context, run agent.RunID, by bot.Person, text string, once ...string) error {
	_, err := d.Tell(ctx, run, by, agent.PersonSaid{Text: text}, Dedupe{Once: once})
	return err
}

// MaxFileName is how long the name of a person's file may be, in characters.
const MaxFileName = 100

// strictTries is how often words are committed only if the run has not moved on
// meanwhile; after that they are committed anyway.
const strictTries = 5

// Tell adds words and files, and reports whether they are trusted. Words that
// come after the end are ErrEnded: nobody would read them.
func (d *Client) Tell(ctx context.Context, run agent.RunID, by bot.Person, said agent.PersonSaid, dedupe Dedupe) (trusted bool, err error) {
	for try := 1; ; try++ {
		r, err := d.LoadLive(ctx, run)
		if err != nil {
			return false, err
		}
		said.By, said.Trusted = by.ID, d.Authority.MaySteer(r, by)
		if !said.Trusted {
			said = withoutFiles(said)
			said.Text = Kept(said.Text)
		}
		err = d.Append(ctx, r, agent.Main, unread(r, said, by), try < strictTries, dedupe)
		if !errors.Is(err, agent.ErrStale) {
			return said.Trusted, err
		}
	}
}

// TakeBack tells a run that a message was deleted whose words it heard: with the
// trust that they had. One that it did not hear, or heard taken back already, is
// nothing to it.
func (d *Client) TakeBack(ctx context.Context, run agent.RunID, message string, dedupe Dedupe) error {
	for try := 1; ; try++ {
		r, err := d.LoadLive(ctx, run)
		if err != nil {
			return err
		}
		if w := slices.IndexFunc(r.Unread, func(w agent.Words) bool { return w.Message == message }); w >= 0 { // nothing came of it yet
			gone := agent.PersonSaid{By: r.Unread[w].By, Trusted: r.Unread[w].Trusted, Message: message, Unread: &agent.Unread{}}
			if err = d.Append(ctx, r, agent.Main, gone, try < strictTries, dedupe); !errors.Is(err, agent.ErrStale) {
				return err
			}
			continue
		}
		i := slices.IndexFunc(r.Said, func(n agent.Note) bool { return n.Message == message })
		if i < 0 || slices.ContainsFunc(r.Said[i:], func(n agent.Note) bool { return n.Message == message && strings.HasPrefix(n.Text, takenBack) }) {
			return nil
		}
		heard := r.Said[i]
		said := agent.PersonSaid{By: heard.By, Trusted: heard.Trusted, Message: message,
			Text: takenBack + " Do not follow it, nor its corrections: “" + format.LineStart(heard.Text, maxTakenBack) + "”"}
		if err = d.Append(ctx, r, agent.Main, said, try < strictTries, dedupe); !errors.Is(err, agent.ErrStale) {
			return err
		}
	}
}

// What a run is told of a message that was deleted, and how much of it is quoted,
// in characters.
const (
	takenBack    = "I took back a message by deleting it."
	maxTakenBack = 500
)

// unread is what a person said, with what is needed to understand it later. A
// correction of words that nobody understood yet takes their place. Of somebody
// who may not steer the run, only words about a question need to be understood.
func unread(r agent.Run, said agent.PersonSaid, by bot.Person) agent.PersonSaid {
	if said.Unread == nil {
		return said
	}
	u := *said.Unread
	u.Also = by.Also
	if !said.Trusted {
		u.Answer = nil
	}
	said.Unread = &u
	earlier := slices.ContainsFunc(r.Unread, func(w agent.Words) bool { return w.Same(said) })
	switch {
	case earlier:
		said.Text = strings.TrimPrefix(said.Text, bot.Correction)
	case !said.Trusted && len(u.Before) == 0:
		said.Unread = nil
	}
	return said
}

// Kept is what is kept of a message of somebody who has no say in the run.
func Kept(words string) string {
	n := utf8.RuneCountInString(words)
	if n <= bounds.Words {
		return words
	}
	end := fmt.Sprintf("\n[shortened: %s of %s characters]", format.Thousands(int64(bounds.Words)), format.Thousands(int64(n)))
	return format.First(words, bounds.Words) + end
}

// withoutFiles is what somebody without authority said, with the files only named:
// nobody but those who steer a run puts anything into its workspace.
func withoutFiles(said agent.PersonSaid) agent.PersonSaid {
	for _, f := range said.Files {
		said.Text = strings.TrimSpace(said.Text + "\n[attached, not fetched: " + text.InLine(f.Name, MaxFileName) + "]")
	}
	said.Files = nil
	return said
}

// Rate keeps a person's rating of a run that has ended.
func (d *Client) Rate(ctx context.Context, run agent.RunID, by bot.Person, f agent.Feedback, dedupe Dedupe) error {
	r, err := d.Load(ctx, run)
	if err != nil {
		return err
	}
	if r.Ended == nil {
		return fmt.Errorf("run %s: %w", run, ErrNotEnded)
	}
	f.By = by.ID
	_, err = d.Journals.Commit(ctx, dedupe.commit(r, agent.Event{Strand: agent.Main, Body: f}))
	return err
}

// Watch shows a run in one more place, where its card is posted, too.
func (d *Client) Watch(ctx context.Context, r agent.Run, w agent.RunWatched, dedupe Dedupe) error {
	c := dedupe.commit(r, agent.Event{Strand: agent.Main, Body: w})
	c.Wake = map[agent.StrandID]time.Time{agent.Voice: agent.AtOnce}
	_, err := d.Journals.Commit(ctx, c)
	return err
}

// Append appends what happened outside and makes every strand look at it.
// Strict, it is agent.ErrStale where somebody else wrote meanwhile.
func (d *Client) Append(ctx context.Context, r agent.Run, s agent.StrandID, b agent.Body, strict bool, dedupe Dedupe) error {
	c := dedupe.commit(r, agent.Event{Strand: s, Body: b})
	c.Wake = r.Strands.Wakeful()
	if said, is := b.(agent.PersonSaid); is && said.Unread != nil {
		c.Wake[agent.Hear] = agent.AtOnce // which the run may not have yet
	}
	if strict {
		c.Strict, c.SeenAt = true, r.Last
	}
	_, err := d.Journals.Commit(ctx, c)
	return err
}

// Note writes down that something is done, without a run.
func (d *Client) Note(ctx context.Context, dedupe Dedupe) error {
	_, err := d.Journals.Commit(ctx, agent.Commit{ID: agent.NewID(), Once: dedupe.Once, Anchor: dedupe.Anchor, Set: dedupe.Set})
	return err
}

// Unstick lets a run that is stuck try again with what a person says and gives,
// in one commit.
func (d *Client) Unstick(ctx context.Context, by bot.Person, id agent.CheckpointID, said agent.PersonSaid, dedupe Dedupe) error {
	said.By, said.Trusted = by.ID, true
	for {
		q, err := d.Question(ctx, by, id)
		if err != nil {
			return err
		}
		c := dedupe.commit(q.Run, agent.Event{Strand: agent.Main, Body: said},
			agent.Event{Strand: q.Check.Strand, Body: agent.CheckpointDecided{ID: id, Decision: agent.DecideRetry, By: by.ID}})
		c.Strict, c.SeenAt, c.Wake = true, q.Run.Last, q.Run.Strands.Wakeful()
		if _, err = d.Journals.Commit(ctx, c); !errors.Is(err, agent.ErrStale) {
			return err
		}
	}
}
