package reflect

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/thought"
)

// Journal follows one run's journal and keeps a trace of each of its strands.
// Apply costs the same for every event; a Journal may begin in the middle, then
// it knows nothing of before. Its zero value is empty.
type Journal struct {
	strands map[agent.StrandID]*strand
	checks  map[agent.CheckpointID]check
	plans   []planMark
	board   board
}

// strand is what is known of a strand beside its trace.
type strand struct {
	trace   Trace
	open    []openCall    // calls without a result
	ended   time.Time     // when the newest result came; zero: none yet
	away    time.Duration // since then: the model's and people's time
	asked   time.Time     // when the model was asked
	waiting time.Time     // when a checkpoint was opened
}

// openCall is a call without a result. A turn has few of them.
type openCall struct {
	effect agent.EffectID
	step   Step
}

// calling is the open call of the effect, nil if there is none.
func (s *strand) calling(effect agent.EffectID) *Step {
	for i := range s.open {
		if s.open[i].effect == effect {
			return &s.open[i].step
		}
	}
	return nil
}

type check struct {
	ask    agent.CheckpointKind
	strand agent.StrandID
}

// Trace is the strand's trace so far; it goes on growing.
func (j *Journal) Trace(id agent.StrandID) *Trace { return &j.strand(id).trace }

// Strands lists the strands, sorted.
func (j *Journal) Strands() []agent.StrandID { return slices.Sorted(maps.Keys(j.strands)) }

func (j *Journal) strand(id agent.StrandID) *strand {
	if j.strands == nil {
		j.strands = map[agent.StrandID]*strand{}
	}
	s := j.strands[id]
	if s == nil {
		s = &strand{trace: Trace{Strand: id}}
		j.strands[id] = s
	}
	return s
}

// Apply takes the next event. Kinds that are no part of what an agent did
// change nothing.
func (j *Journal) Apply(e agent.Event) {
	switch b := e.Body.(type) {
	case agent.ModelAsked:
		j.strand(e.Strand).asked = e.At
	case agent.ModelAnswered:
		j.strand(e.Strand).answered(e, b)
	case agent.CallReplied:
		j.strand(e.Strand).replied(e, b)
	case agent.ToolIntent:
		j.strand(e.Strand).intend(e, b)
	case agent.ToolDeferred:
		j.strand(e.Strand).rest(e, b)
	case agent.ToolOutcome:
		j.strand(e.Strand).result(e, b.Effect, func(c *Step) {
			c.Text, c.Error, c.Artifact = b.Text, b.State == agent.OutcomeError, len(b.Files) > 0
		})
	case agent.Compacted:
		j.strand(e.Strand).trace.Push(Step{Event: e.Seq, Kind: Compaction})
	case agent.PersonSaid:
		j.said(e, b)
	case agent.CheckpointOpened:
		j.opened(e, b)
	case agent.CheckpointDecided:
		j.decided(e, b)
	case agent.PlanAccepted:
		j.plans = append(j.plans, j.board.accept(e, b))
	case agent.TaskStarted: // also again, by a new plan: its streaks begin anew
		id := agent.TaskStrand(b.Task)
		delete(j.strands, id)
		j.strand(id)
	case agent.TaskEnded:
		j.ended(b)
	default: // the other kinds are no part of what an agent did
	}
}

// ended marks a task that finished.
func (j *Journal) ended(b agent.TaskEnded) {
	if j.board.end(b) {
		j.plans = append(j.plans, planMark{finished: true})
	}
}

// said begins every strand's streaks anew.
func (j *Journal) said(e agent.Event, b agent.PersonSaid) {
	for _, s := range j.strands {
		s.trace.Push(Step{Event: e.Seq, Kind: Person, Text: b.Text})
	}
	j.plans = append(j.plans, planMark{person: true})
}

func (s *strand) replied(e agent.Event, b agent.CallReplied) {
	s.result(e, b.Effect, func(c *Step) {
		c.Event, c.Text, c.Unusable = e.Seq, b.Text, b.Problem
		c.Error = b.Problem
		c.Idle = !b.Problem && agent.Idle(c.Tool)
	})
}

// counted reports whether turns for the purpose are steps of the strand's own
// work; judging, checking in and reporting are about it.
func counted(p llm.Purpose) bool {
	return p == llm.Work || p == llm.Plan || p == llm.Intake || p == ""
}

func (s *strand) answered(e agent.Event, b agent.ModelAnswered) {
	if s.asked.IsZero() {
		s.away += b.Took
	} else {
		s.away += e.At.Sub(s.asked)
	}
	s.asked = time.Time{}
	switch {
	case b.Lost || b.Error != "" || !b.RetryAt.IsZero():
		return
	case !counted(b.Purpose):
		return
	}
	var m llm.Message
	if b.Message != nil {
		m = *b.Message
	}
	if len(m.Calls) == 0 {
		s.trace.Push(Step{Event: e.Seq, Kind: Prose, Text: m.Content, Unusable: b.Problem != ""})
		return
	}
	if m.Content != "" {
		s.trace.Push(Step{Event: e.Seq, Kind: Said, Text: m.Content})
	}
	s.open = s.open[:0] // the calls of an earlier turn get no result any more
	for i, c := range m.Calls {
		step := Step{Event: e.Seq, Turn: e.Seq, Tool: c.Name, Arguments: thought.Without(c.Arguments)}
		if b.Problem != "" { // all calls were refused with it at once
			step.Text, step.Error, step.Unusable = b.Problem, true, true
			s.trace.Push(step)
			continue
		}
		s.open = append(s.open, openCall{agent.EffectID(b.Call + "." + strconv.Itoa(i)), step})
	}
}

func (s *strand) intend(e agent.Event, b agent.ToolIntent) {
	c := s.calling(b.Effect)
	if c == nil {
		s.open = append(s.open, openCall{effect: b.Effect})
		c = &s.open[len(s.open)-1].step
	} else if b.Again > 0 && c.Tool != "" {
		return // the same call once more, after a crash
	}
	c.Event, c.Tool, c.Arguments = e.Seq, b.Tool, string(b.Arguments)
	if !s.ended.IsZero() {
		c.Pause = max(0, e.At.Sub(s.ended)-s.away)
	}
	s.ended, s.away = e.At, 0 // a call beside this one has no pause
}

// late is by how much the engine may note a rest later than it was asked for.
const late = 250 * time.Millisecond

// rest adds to how long an open call puts itself off.
func (s *strand) rest(e agent.Event, b agent.ToolDeferred) {
	if c := s.calling(b.Effect); c != nil {
		c.Rested += max(0, (b.Until.Sub(e.At) + late).Truncate(time.Second))
	}
}

// result completes a call; a second result of the same call is none.
func (s *strand) result(e agent.Event, effect agent.EffectID, fill func(c *Step)) {
	c := s.calling(effect)
	if c == nil {
		return
	}
	fill(c)
	s.trace.Push(*c)
	s.open = slices.DeleteFunc(s.open, func(o openCall) bool { return o.effect == effect })
	s.ended, s.away = e.At, 0
}

func (j *Journal) opened(e agent.Event, b agent.CheckpointOpened) {
	if j.checks == nil {
		j.checks = map[agent.CheckpointID]check{}
	}
	ask := b.Ask
	if b.Review { // what a reviewer says is about the plan's results
		ask = agent.CheckPlan
	}
	j.checks[b.ID] = check{ask, e.Strand}
	j.strand(e.Strand).waiting = e.At
}

// decided ends a question. Where a person was asked what to do, the answer is a
// person's word, and the streaks start again.
func (j *Journal) decided(e agent.Event, b agent.CheckpointDecided) {
	c, known := j.checks[b.ID]
	if !known {
		return
	}
	delete(j.checks, b.ID)
	s := j.strand(c.strand)
	if !s.waiting.IsZero() {
		s.away += e.At.Sub(s.waiting)
		s.waiting = time.Time{}
	}
	if b.By == agent.DecideExpired || b.By == agent.Deckhand {
		return
	}
	switch c.ask {
	case agent.CheckStuck, agent.CheckClarify, agent.CheckPlan:
		s.trace.Push(Step{Event: e.Seq, Kind: Person, Text: string(b.ID)}) // decisions never repeat
		if c.strand == agent.Main {
			j.plans = append(j.plans, planMark{person: true})
		}
	case agent.CheckApproval, agent.CheckBudget, agent.CheckUncertain:
	}
}

// Fork is a copy of the journal that may be given events on trial: a batch that
// is not committed. It costs the same however old the run is, and serves as
// long as the journal itself is left alone.
func (j *Journal) Fork(id agent.StrandID) *Journal {
	s := j.strand(id)
	c := *s
	c.trace = *s.trace.fork()
	c.open = slices.Clone(s.open)
	return &Journal{
		strands: map[agent.StrandID]*strand{id: &c},
		checks:  maps.Clone(j.checks), plans: slices.Clip(j.plans), board: j.board.clone(),
	}
}
