package limit

import (
	"context"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Store keeps the lines of endpoints; every store does.
type Store interface {
	Admit(ctx context.Context, a agent.Admission) (wait time.Duration, err error)
}

// Config is what is known of an endpoint from the start.
type Config struct {
	Store Store
	// Requests and Tokens are what each model takes in a minute, 0: what its
	// answers say.
	Requests, Tokens int
}

// Limiter says when a model may be asked, for all processes of its store. Of a
// model whose limits nobody knows it lets everything through.
type Limiter struct {
	cfg Config

	mu     sync.Mutex
	models map[string]*model
}

// model is what is known of one model's limits, and what is to be given back.
type model struct {
	requests, tokens rate
	back             struct{ requests, tokens time.Duration }
}

// New returns a limiter.
func New(c Config) *Limiter { return &Limiter{cfg: c, models: map[string]*model{}} }

// Question is one question to a model.
type Question struct {
	Model  string
	Run    agent.RunID
	Strand agent.StrandID
	// Background questions come after those of runs that people began.
	Background bool
	Tokens     int // of the prompt and of the longest answer
}

// The names of the two limits.
const (
	limitRequests = "requests"
	limitTokens   = "tokens"
)

// ahead is how much of a limit may be used before its time, so that who comes a
// little late loses nothing.
const ahead = time.Second

// Ask returns zero where the question may be put. Else nothing is taken, the
// question has a place in the line, and the answer says when to ask again.
func (l *Limiter) Ask(ctx context.Context, q Question) (wait time.Duration, err error) {
	charges, undo := l.charges(q)
	if len(charges) == 0 {
		return 0, nil
	}
	wait, err = l.cfg.Store.Admit(ctx, agent.Admission{Endpoint: q.Model, Run: q.Run, Strand: q.Strand, Background: q.Background, Charges: charges})
	if err != nil {
		undo()
	}
	return wait, err
}

// charges are the question's, and what earlier ones give back.
func (l *Limiter) charges(q Question) (list []agent.Charge, undo func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.of(q.Model)
	now := time.Now()
	back := m.back
	add := func(name string, back, takes time.Duration) {
		if back < 0 {
			list = append(list, agent.Charge{Limit: name, Takes: back, Ahead: ahead})
		}
		if takes > 0 {
			list = append(list, agent.Charge{Limit: name, Takes: takes, Ahead: ahead})
		}
	}
	add(limitRequests, back.requests, m.requests.takes(1, now))
	add(limitTokens, back.tokens, m.tokens.takes(q.Tokens, now))
	m.back.requests, m.back.tokens = 0, 0
	return list, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		m.back.requests += back.requests
		m.back.tokens += back.tokens
	}
}

func (l *Limiter) of(name string) *model {
	m := l.models[name]
	if m == nil {
		m = &model{requests: rate{told: float64(l.cfg.Requests)}, tokens: rate{told: float64(l.cfg.Tokens)}}
		l.models[name] = m
	}
	return m
}

// Return gives back what a question took that was not put.
func (l *Limiter) Return(q Question) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, now := l.of(q.Model), time.Now()
	m.back.requests -= m.requests.takes(1, now)
	m.back.tokens -= m.tokens.takes(q.Tokens, now)
}

// Answered learns from an answer: what the endpoint says of its limits, and how
// many of the question's tokens were used.
func (l *Limiter) Answered(q Question, quota llm.Quota, tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, now := l.of(q.Model), time.Now()
	if q.Tokens > tokens {
		m.back.tokens -= m.tokens.takes(q.Tokens-tokens, now)
	}
	m.learn(quota)
	m.requests.answered(1, now)
	m.tokens.answered(tokens, now)
}

func (m *model) learn(quota llm.Quota) {
	if quota.Requests > 0 {
		m.requests.heard = float64(quota.Requests)
	}
	if quota.Tokens > 0 {
		m.tokens.heard = float64(quota.Tokens)
	}
}

// Refused learns from an endpoint that took no more requests: nobody asks for as
// long as it said, and afterwards a little less than before is asked.
func (l *Limiter) Refused(ctx context.Context, q Question, quota llm.Quota, after time.Duration) error {
	l.mu.Lock()
	m, now := l.of(q.Model), time.Now()
	m.learn(quota)
	m.back.tokens -= m.tokens.takes(q.Tokens, now)
	name, limit := limitRequests, &m.requests
	if quota.OutOfTokens {
		name, limit = limitTokens, &m.tokens
	}
	limit.refused(now)
	l.mu.Unlock()
	if after <= 0 {
		return nil
	}
	_, err := l.cfg.Store.Admit(ctx, agent.Admission{Endpoint: q.Model,
		Charges: []agent.Charge{{Limit: name, Ahead: ahead, Hold: min(after, agent.MaxAdmissionWait)}}})
	return err
}
