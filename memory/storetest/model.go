package storetest

// The contract in its simplest form, for comparisons.

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// model is the contract in its simplest form: one run in maps, without a clock
// (a strand is due, not due, or leased). What a store does is compared with it.
type model struct {
	run      agent.RunID
	events   []string
	strands  map[agent.StrandID]*modelStrand
	counters map[string]int64
	once     map[string]bool
	names    map[string]string
	attempts map[string]uint64 // of facts
	ended    bool
}

type modelStrand struct {
	epoch, turn uint64
	due, leased bool
	attempt     string
	seq         uint64
}

func newModel() *model {
	return &model{
		run: agent.RunID(agent.NewID()), strands: map[agent.StrandID]*modelStrand{},
		counters: map[string]int64{}, once: map[string]bool{}, names: map[string]string{}, attempts: map[string]uint64{},
	}
}

// commit does what a store must do: it returns the receipt's seq, or the errors
// that a store may choose from.
func (m *model) commit(c agent.Commit) (seq uint64, refused []error) {
	var own *modelStrand
	if c.Lease != nil {
		own = m.strands[c.Lease.Strand]
		if own != nil && own.attempt == c.ID && own.turn == c.Lease.Turn+1 {
			return own.seq, nil
		}
	} else if seq, seen := m.attempts[c.ID]; seen {
		return seq, nil
	}
	if refused := m.refuses(c, own); len(refused) > 0 {
		return 0, refused
	}
	news := m.news(c)
	for _, e := range c.Events {
		m.events = append(m.events, text(e))
	}
	for _, s := range c.Spend {
		m.counters[s.Counter] += s.Nano
	}
	for _, key := range c.Once {
		m.once[key] = true
	}
	for name, value := range c.Set {
		m.names[name] = value
		if value == "" {
			delete(m.names, name)
		}
	}
	seq = uint64(len(m.events))
	if own != nil {
		own.turn, own.attempt, own.seq = own.turn+1, c.ID, seq
		if until, frees := c.Wake[c.Lease.Strand]; frees {
			own.leased, own.due = false, news || until.Equal(agent.AtOnce)
		}
	} else {
		m.attempts[c.ID] = seq
	}
	m.wake(c)
	return seq, nil
}

// news says whether the journal ends elsewhere than where the writer saw its end.
func (m *model) news(c agent.Commit) bool {
	return c.Seen != agent.SeenAll && uint64(len(m.events)) != c.Seen
}

// holds says whether the strand is leased by this lease, in its turn.
func (s *modelStrand) holds(l agent.Lease) bool {
	return s != nil && s.leased && s.epoch == l.Epoch && s.turn == l.Turn
}

func (m *model) refuses(c agent.Commit, own *modelStrand) (refused []error) {
	if len(m.events) == 0 && (len(c.Events) == 0 || c.Events[0].Body.Kind() != agent.RunStarted{}.Kind()) {
		refused = append(refused, agent.ErrNoRun)
	}
	if c.Lease != nil && !own.holds(*c.Lease) {
		refused = append(refused, agent.ErrConflict)
	}
	if c.Strict && m.news(c) {
		refused = append(refused, agent.ErrStale)
	}
	sums := maps.Clone(m.counters)
	for _, s := range c.Spend {
		sums[s.Counter] += s.Nano
		if s.Limit != 0 && s.Nano > 0 && sums[s.Counter] > s.Limit {
			refused = append(refused, agent.ErrBudget)
		}
	}
	if slices.ContainsFunc(c.Once, func(key string) bool { return m.once[key] }) {
		refused = append(refused, agent.ErrSeen)
	}
	return refused
}

// wake sets the due times of all strands but the lease's own, and ends the run.
func (m *model) wake(c agent.Commit) {
	for s, at := range c.Wake {
		if c.Lease != nil && s == c.Lease.Strand {
			continue
		}
		if m.strands[s] == nil {
			m.strands[s] = &modelStrand{}
		}
		if strand := m.strands[s]; !strand.leased && at.Equal(agent.AtOnce) {
			strand.due = true
		}
	}
	if !c.Ends {
		return
	}
	m.ended = true
	for s, strand := range m.strands {
		if s != agent.Voice {
			strand.due, strand.leased = false, false
		}
	}
}

// claim leases all that is due, as a claim of this run with room for all would.
func (m *model) claim() map[agent.StrandID]agent.Lease {
	leases := map[agent.StrandID]agent.Lease{}
	for s, strand := range m.strands {
		if strand.due && !strand.leased {
			strand.due, strand.leased = false, true
			strand.epoch++
			leases[s] = agent.Lease{Run: m.run, Strand: s, Epoch: strand.epoch, Turn: strand.turn,
				Head: agent.Receipt{Seq: uint64(len(m.events))}}
		}
	}
	return leases
}

// holds says whether the lease can be extended.
func (m *model) holds(l agent.Lease) bool {
	strand := m.strands[l.Strand]
	return strand != nil && strand.leased && strand.epoch == l.Epoch
}

// among says whether err is one of the errors, or nil where there are none.
func among(err error, allowed []error) bool {
	if len(allowed) == 0 {
		return err == nil
	}
	return slices.ContainsFunc(allowed, func(one error) bool { return errors.Is(err, one) })
}

// without drops the claim's times, which the model does not know.
func without(leases []agent.Lease) map[agent.StrandID]agent.Lease {
	all := map[agent.StrandID]agent.Lease{}
	for _, l := range leases {
		l.At, l.Since, l.Head.At = time.Time{}, time.Time{}, time.Time{}
		all[l.Strand] = l
	}
	return all
}
