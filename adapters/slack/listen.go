package slack

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	hearWithin = 10 * time.Second // Slack gives up after three, the store may take longer
	parallel   = 64               // threads that are heard side by side
	maxWaiting = 4096             // events that wait for their turn
	grace      = 3 * time.Second  // for what is under way when the end comes
)

var (
	errDeaf  = errors.New("the process is starting or ending")
	errCrowd = errors.New("too many events wait already")
)

// intake is the state of the listening side.
type intake struct {
	people people
	marks  *ingest.Watermarks
	missed *ingest.Backlog
	quiet  ingest.LogLimiter
	queue  *ingest.KeyedQueue
	aside  chan struct{} // slots of what is done after the acknowledgement
	times  patience

	mu      sync.Mutex
	work    func(parcel, func(error)) // nil while nobody listens
	crew    sync.WaitGroup            // everything that work began
	links   int
	lost    time.Time     // when the last link went
	trouble error         // why there is no link
	refused error         // why the bot's token is good for nothing
	revoked chan struct{} // the bot's token was refused
}

func (in *intake) open(marks *ingest.Watermarks) {
	in.people.open()
	in.marks, in.missed = marks, ingest.NewBacklog(marks)
	in.queue = ingest.NewKeyedQueue(parallel, maxWaiting)
	in.aside = make(chan struct{}, parallel)
	in.times = defaultPatience()
	in.revoked = make(chan struct{}, 1)
}

// Listen takes in what people do until ctx ends. An error means that the tokens
// cannot be used: it wraps bot.ErrRefused and names the variable.
func (s *Slack) Listen(ctx context.Context, hear bot.Hear) error {
	if s.cfg.AppToken == "" && s.cfg.SigningSecret == "" {
		return fmt.Errorf("there is no way in for events: %w; set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP)", bot.ErrRefused)
	}
	late, release := ingest.WithGrace(ctx, grace)
	defer release()
	begun := s.in.begin(func(p parcel, done func(error)) { s.receive(late, hear, p, done) })
	if !begun {
		return errors.New("the Slack platform is listening already")
	}
	links, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var g, readers sync.WaitGroup
	broken := make(chan error, 1)
	if s.cfg.AppToken != "" {
		g.Go(func() { broken <- s.sockets(links) })
	} else {
		s.in.missed.NoteGap()
	}
	readers.Go(func() { s.catchUps(inner, late, hear) })
	readers.Go(func() { s.keepMarks(inner) })
	readers.Go(func() { s.mend(inner) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-broken:
	}
	up := s.connected()
	cancel()
	s.in.deafen()
	readers.Wait() // what they heard last is answered by the crew
	s.in.crew.Wait()
	s.saveMarks(late, up)
	cut()
	g.Wait()
	return err
}

func (in *intake) begin(work func(parcel, func(error))) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.work != nil {
		return false
	}
	in.work = work
	return true
}

// deafen takes in nothing more.
func (in *intake) deafen() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.work = nil
}

// take deals with something that Slack sent and that was proved to be Slack's.
// Done is called once: without an error it is written down, or of no concern,
// and can be acknowledged.
func (s *Slack) take(p parcel, done func(error)) {
	s.in.mu.Lock()
	work := s.in.work
	if work != nil {
		s.in.crew.Add(1)
	}
	s.in.mu.Unlock()
	if work == nil {
		done(errDeaf)
		return
	}
	defer s.in.crew.Done()
	work(p, done)
}

// receive puts a parcel into its lanes.
func (s *Slack) receive(ctx context.Context, hear bot.Hear, p parcel, done func(error)) {
	n, err := s.parse(p)
	if err != nil {
		s.in.quiet.Warn(s.log, "a payload of Slack's cannot be read and is ignored", "kind", p.kind, "why", err)
	}
	if n == nil {
		done(nil)
		return
	}
	if !n.heard() {
		s.skip(n)
		done(nil)
		s.beside(ctx, n)
		return
	}
	s.begin(n)
	queued := s.in.queue.Add(n.lanes(), s.in.crew.Go, func() {
		s.in.missed.Wait(ctx)
		answer, err := s.tell(ctx, hear, n)
		s.end(n, err == nil)
		done(err)
		if err != nil {
			s.log.Warn("an event could not be written down; Slack will send it again", "where", n.in.Where.String(), "error", err)
			s.in.missed.NoteFailure()
			return
		}
		s.answer(ctx, n, answer)
	})
	if !queued {
		s.end(n, false)
		s.in.missed.NoteFailure()
		done(errCrowd)
	}
}

// tell finds out who did it and has it heard.
func (s *Slack) tell(ctx context.Context, hear bot.Hear, n *notice) (bot.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	if n.edit {
		run, err := s.cfg.Names.Value(ctx, agent.ThreadName(n.in.Where.String()))
		if err != nil || run == "" {
			return bot.Answer{}, err
		}
	}
	by, err := s.who(ctx, n)
	if err != nil {
		return bot.Answer{}, err
	}
	n.in.By = by
	if n.alone {
		if n.in.Where, err = s.Direct(ctx, by.ID); err != nil {
			return bot.Answer{}, fmt.Errorf("open the direct conversation with %s: %w", by.ID, err)
		}
	}
	n.in.Act = s.worded(ctx, n)
	return hear(ctx, n.in)
}

// worded is the act with its text as people read it. The acknowledgement does
// not wait long for the names in it.
func (s *Slack) worded(ctx context.Context, n *notice) bot.Act {
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	channels := map[string]bot.Address{}
	by := spelling{
		name: func(user string) string { return s.nameFor(ctx, user) },
		channel: func(id, label string) string {
			n.in.Channels = channels
			return ingest.ChannelWord(channels, label, s.place(id, ""))
		},
	}
	switch act := n.in.Act.(type) {
	case bot.Said:
		act.Text = s.readable(n.raw, by)
		if n.edit {
			act.Text = "Correction of an earlier message: " + act.Text
		}
		return act
	case bot.Commanded:
		act.Text = s.readable(n.raw, by)
		return act
	case bot.Pressed, bot.Filled, bot.Stopped, bot.Visited:
	}
	return n.in.Act
}
