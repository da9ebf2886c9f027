package storetest

// Random steps, against the store and the model.

import (
	"context"
	"errors"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/agent"
)

var randomTests = []test{{"a store does what the contract in maps does", likeModel}}

// pair is a store and the model beside it, driven alike.
type pair struct {
	ctx    func() context.Context
	store  Store
	model  *model
	texts  []string       // the journal as far as it was read
	leases []agent.Lease  // all that were ever given
	sent   []agent.Commit // all that were ever tried
}

var (
	someStrands = []agent.StrandID{agent.Main, agent.Voice, "task/a"}
	someTimes   = []time.Time{agent.Parked, agent.AtOnce, time.Now().Add(24 * time.Hour)}
)

func likeModel(b *bed) {
	rapid.Check(b, func(t *rapid.T) {
		p := &pair{ctx: b.Context, store: b.Store, model: newModel()}
		t.Repeat(map[string]func(*rapid.T){
			"fact":   p.fact,
			"decide": p.decide,
			"resend": p.resend,
			"claim":  p.claim,
			"extend": p.extend,
			"same":   p.same, // not after every step: reading is what takes long
		})
		p.same(t)
	})
}

// draw makes a commit; what it refers to is of few values, so that commits meet.
func (p *pair) draw(t *rapid.T, own agent.StrandID) agent.Commit {
	c := agent.Commit{ID: agent.NewID(), Run: p.model.run, Wake: wake{}, Strict: rapid.IntRange(0, 4).Draw(t, "strict") == 0}
	c.Seen = uint64(max(0, len(p.model.events)-rapid.IntRange(-1, 1).Draw(t, "unseen")))
	if rapid.IntRange(0, 5).Draw(t, "seen all") == 0 {
		c.Seen = agent.SeenAll
	}
	if len(p.model.events) == 0 && rapid.IntRange(0, 2).Draw(t, "starts") > 0 {
		c.Events = append(c.Events, opens())
	}
	for range rapid.IntRange(0, 2).Draw(t, "events") {
		c.Events = append(c.Events, say(rapid.SampledFrom(someStrands).Draw(t, "of"), "%s", c.ID))
	}
	for _, s := range someStrands {
		// What becomes of a dropped strand that is woken again is the store's choice.
		if rapid.Bool().Draw(t, "wakes "+string(s)) && (!p.model.ended || s == agent.Voice || s == own) {
			c.Wake[s] = rapid.SampledFrom(someTimes).Draw(t, "at")
		}
	}
	prefix := "run/" + string(p.model.run) + "/"
	for range rapid.IntRange(0, 2).Draw(t, "spends") {
		c.Spend = append(c.Spend, agent.Spend{
			Counter: prefix + rapid.SampledFrom([]string{"usd", "steps"}).Draw(t, "counter"),
			Nano:    rapid.Int64Range(-3, 5).Draw(t, "nano"), Limit: rapid.SampledFrom([]int64{0, 10, 20}).Draw(t, "limit"),
		})
	}
	if rapid.IntRange(0, 3).Draw(t, "once") == 0 {
		c.Once = []string{prefix + rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key")}
	}
	for range rapid.IntRange(0, 2).Draw(t, "names") {
		if c.Set == nil {
			c.Set = map[string]string{}
		}
		c.Set[prefix+rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(t, "name")] = rapid.SampledFrom([]string{"", "x", "y", string(p.model.run)}).Draw(t, "value")
	}
	c.Ends = rapid.IntRange(0, 30).Draw(t, "ends") == 0
	return c
}

func (p *pair) send(t *rapid.T, c agent.Commit) {
	want, refused := p.model.commit(c)
	r, err := p.store.Commit(p.ctx(), c)
	if !among(err, refused) || r.Seq != want && err == nil {
		t.Fatalf("commit %+v (lease %+v): receipt %+v, %v; want seq %d or one of %v", c, c.Lease, r, err, want, refused)
	}
	p.sent = append(p.sent, c)
}

func (p *pair) fact(t *rapid.T) { p.send(t, p.draw(t, "")) }

func (p *pair) decide(t *rapid.T) {
	if len(p.leases) == 0 {
		return
	}
	l := rapid.SampledFrom(p.leases).Draw(t, "lease")
	// Mostly the turn where the strand stands, as its holder would know.
	if rapid.IntRange(0, 4).Draw(t, "late") > 0 {
		l.Turn = p.model.strands[l.Strand].turn
	}
	c := p.draw(t, l.Strand)
	c.Lease = &l
	p.send(t, c)
}

func (p *pair) resend(t *rapid.T) {
	if len(p.sent) == 0 {
		return
	}
	c := rapid.SampledFrom(p.sent).Draw(t, "again")
	for s := range c.Wake {
		if p.model.ended && s != agent.Voice && (c.Lease == nil || s != c.Lease.Strand) {
			return // it may wake a dropped strand
		}
	}
	p.send(t, c)
}

func (p *pair) claim(t *rapid.T) {
	got, err := p.store.Claim(p.ctx(), 10, 0, p.model.run)
	if diff := cmp.Diff(p.model.claim(), without(got)); err != nil || diff != "" {
		t.Fatalf("claim: %v (-want +got)\n%s", err, diff)
	}
	p.leases = append(p.leases, got...)
}

func (p *pair) extend(t *rapid.T) {
	var want []agent.Lease
	for _, l := range p.leases {
		if !p.model.holds(l) {
			want = append(want, l)
		}
	}
	lost, err := p.store.Extend(p.ctx(), p.leases)
	if diff := cmp.Diff(want, lost); err != nil || diff != "" {
		t.Fatalf("extend: %v, lost (-want +got)\n%s", err, diff)
	}
}

// same compares all that can be read, the journal by what is newer.
func (p *pair) same(t *rapid.T) {
	events, err := p.store.Read(p.ctx(), p.model.run, uint64(len(p.texts)))
	if err != nil && (len(p.model.events) > 0 || !errors.Is(err, agent.ErrNoRun)) {
		t.Fatalf("read: %v", err)
	}
	for _, e := range events {
		p.texts = append(p.texts, text(e))
	}
	if diff := cmp.Diff(p.model.events, p.texts); diff != "" {
		t.Fatalf("journal (-want +got)\n%s", diff)
	}
	for counter, want := range p.model.counters {
		if got, err := p.store.Spent(p.ctx(), counter); err != nil || got != want {
			t.Fatalf("counter %s is %d (%v), want %d", counter, got, err, want)
		}
	}
	names, err := p.store.Values(p.ctx(), "run/"+string(p.model.run)+"/")
	if diff := cmp.Diff(p.model.names, names, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Fatalf("names: %v (-want +got)\n%s", err, diff)
	}
}
