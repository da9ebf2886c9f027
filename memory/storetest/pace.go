package storetest

// Turns at a pace.

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Most paces here are of an hour: what a busy machine loses does not matter then.
var paceTests = []test{
	{"a burst is free, then a turn each Every", burst},
	{"what is refused takes nothing", refusedTurns},
	{"booked turns stand in a row", booked},
	{"some turns are left for others", left},
	{"turns come back with time", earnedTurns},
	{"of a crowd a burst gets through", paceCrowd},
	{"booked turns of a crowd stand in a row", bookCrowd},
	{"what is no pace is refused", noPace},
	{"an endpoint's limits are shared", sharedLimits},
	{"runs take turns, and people's come first", turnsByRun},
	{"who does not come again loses the place", lostPlace},
	{"what is given back is there at once", givenBack},
	{"nobody is admitted while an endpoint is held", heldEndpoint},
}

// take wants a turn, about so many times Every ahead: at most that much, as
// time passes meanwhile.
func (b *bed) take(s Store, p agent.Pace, ahead int) {
	b.Helper()
	wait, err := s.Take(b.Context(), p)
	most := time.Duration(ahead) * p.Every
	if err != nil || wait > most || wait <= most-p.Every/2 && ahead > 0 || wait < 0 {
		b.Fatalf("take %+v: %v, %v; want %v or a little less", p, wait, err, most)
	}
}

func burst(b *bed) {
	p := agent.Pace{Name: "edits", Every: time.Hour, Burst: 3}
	for range p.Burst {
		b.take(b.Store, p, 0)
	}
	b.take(b.Store, p, 1)
	b.Log("another name is another pace")
	p.Name = "edits/of another}"
	b.take(b.Store, p, 0)
	b.Log("a burst below 1 is 1")
	for _, p := range []agent.Pace{{Name: "none", Every: time.Hour}, {Name: "less", Every: time.Hour, Burst: -5}} {
		b.take(b.Store, p, 0)
		b.take(b.Store, p, 1)
	}
	b.Log("no time between turns is no pace")
	for range 5 {
		b.take(b.Store, agent.Pace{Name: "free"}, 0)
	}
	b.Log("larger than a clock")
	for _, p := range []agent.Pace{{Name: "slow", Every: 1<<63 - 1, Burst: 1}, {Name: "wide", Every: time.Hour, Burst: 1<<63 - 1}} {
		b.take(b.Store, p, 0)
	}
	for range 3 {
		if wait, err := b.Store.Take(b.Context(), agent.Pace{Name: "slow", Every: 1<<63 - 1, Book: true}); err != nil || wait < 200*365*24*time.Hour {
			b.Fatalf("a turn in centuries: %v, %v", wait, err)
		}
	}
}

func refusedTurns(b *bed) {
	p := agent.Pace{Name: "edits", Every: time.Hour, Burst: 1}
	b.take(b.Store, p, 0)
	for range 5 {
		b.take(b.Store, p, 1)
	}
	b.Log("a wider burst finds its turns")
	p.Burst = 3
	b.take(b.Store, p, 0)
	b.take(b.Store, p, 0)
	b.take(b.Store, p, 1)
}

func booked(b *bed) {
	p := agent.Pace{Name: "edits", Every: time.Hour, Burst: 2, Book: true}
	for _, ahead := range []int{0, 0, 1, 2, 3} {
		b.take(b.Store, p, ahead)
	}
	p.Book = false
	b.take(b.Store, p, 4)
	b.take(b.Store, p, 4)
	p.Book = true
	b.take(b.Store, p, 4)
	b.take(b.Store, p, 5)
}

func left(b *bed) {
	p := agent.Pace{Name: "edits", Every: time.Hour, Burst: 5}
	modest, all := p, p
	modest.Leave, all.Leave = 2, 99
	b.take(b.Store, modest, 0)
	b.Log("who leaves all may take only the first")
	b.take(b.Store, all, 1)
	b.take(b.Store, modest, 0)
	b.take(b.Store, modest, 0)
	b.take(b.Store, modest, 1)
	b.take(b.Store, p, 0)
	b.take(b.Store, p, 0)
	b.take(b.Store, p, 1)
	b.take(b.Store, modest, 3)
	b.take(b.Store, all, 5)
	modest.Book = true
	b.take(b.Store, modest, 3)
	b.take(b.Store, p, 2)
	b.Log("an idle pace is free for who leaves all, and for who leaves less than none")
	all.Name = "idle"
	b.take(b.Store, all, 0)
	all.Name, all.Leave = "other", -9
	for range all.Burst {
		b.take(b.Store, all, 0)
	}
	b.take(b.Store, all, 1)
}

// earnedTurns takes turns as they come and compares with the time it took,
// which a busy machine only makes longer.
func earnedTurns(b *bed) {
	const turns = 8
	p := agent.Pace{Name: "edits", Every: 20 * time.Millisecond, Burst: 2}
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	began := time.Now()
	for taken := 0; taken < turns; {
		wait, err := b.Store.Take(ctx, p)
		if err != nil || wait > p.Every {
			b.Fatalf("turn %d: %v, %v; want %v at most", taken, wait, err, p.Every)
		}
		if wait == 0 {
			taken++
			continue
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	least := (turns - time.Duration(p.Burst)) * p.Every
	if took := time.Since(began); took < least*9/10 { // the store's clock is another
		b.Fatalf("%d turns in %v, want %v at least", turns, took, least)
	}
}

// paces are the handles that share paces: a reader beside a worker takes none.
func (b *bed) paces() []Store {
	b.Helper()
	if b.Replicas {
		return []Store{b.Store, b.Beside(b.T), b.Beside(b.T)}
	}
	return []Store{b.Store}
}

// takeCrowd takes turns from many sides and returns the waits in order.
func (b *bed) takeCrowd(n int, p agent.Pace) []time.Duration {
	b.Helper()
	handles := b.paces()
	var mu sync.Mutex
	var waits []time.Duration
	b.together(n, func(ctx context.Context, i int) error {
		wait, err := handles[i%len(handles)].Take(ctx, p)
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, wait)
		return err
	})
	slices.Sort(waits)
	return waits
}

func paceCrowd(b *bed) {
	p := agent.Pace{Name: "edits", Every: time.Hour, Burst: 10, Leave: 3}
	waits := b.takeCrowd(30, p)
	for i, wait := range waits {
		if free := i < 7; free != (wait == 0) || wait > p.Every {
			b.Fatalf("waits %v: want 7 to be free and the others to wait for the next", waits)
		}
	}
}

func bookCrowd(b *bed) {
	p := agent.Pace{Name: "edits", Every: time.Hour, Burst: 2, Book: true}
	for i, wait := range b.takeCrowd(20, p) {
		ahead := time.Duration(max(0, i+1-p.Burst)) * p.Every
		if wait > ahead || wait < ahead-p.Every/2 {
			b.Fatalf("place %d waits %v, want %v or a little less", i, wait, ahead)
		}
	}
}

func noPace(b *bed) {
	for _, p := range []agent.Pace{{Every: time.Second, Burst: 1}, {Name: "back", Every: -time.Second, Burst: 1}} {
		if wait, err := b.Store.Take(b.Context(), p); err == nil {
			b.Errorf("take %+v: %v, want an error", p, wait)
		}
	}
}

// call is a call of an endpoint that lets one through each hour.
func call(run agent.RunID, strand agent.StrandID, more ...agent.Charge) agent.Admission {
	return agent.Admission{Endpoint: "model}x", Run: run, Strand: strand,
		Charges: append(more, agent.Charge{Limit: "requests", Takes: time.Hour, Ahead: 2 * time.Hour})}
}

// admit asks for a call and reports whether it may be made.
func (b *bed) admit(s Store, a agent.Admission) bool {
	b.Helper()
	wait, err := s.Admit(b.Context(), a)
	if err != nil || wait < 0 || wait > agent.MaxAdmissionWait {
		b.Fatalf("admit %+v: %v, %v", a, wait, err)
	}
	return wait == 0
}

// earn gives back so many calls, as time would.
func (b *bed) earn(s Store, calls int) {
	b.Helper()
	b.admit(s, agent.Admission{Endpoint: "model}x", Charges: []agent.Charge{{Limit: "requests", Takes: -time.Duration(calls) * time.Hour, Ahead: 2 * time.Hour}}})
}

func sharedLimits(b *bed) {
	for i := range 3 {
		if !b.admit(b.Store, call("r1", agent.TaskStrand(agent.TaskID(rune('a'+i))))) {
			b.Fatalf("call %d of three was not admitted", i+1)
		}
	}
	if b.admit(b.Store, call("r2", agent.Main)) {
		b.Fatal("a fourth call was admitted")
	}
	other := call("r2", agent.Main)
	other.Endpoint = "another"
	if !b.admit(b.Store, other) {
		b.Fatal("another endpoint has limits of its own")
	}
	for _, bad := range []agent.Admission{{}, {Endpoint: "e", Strand: agent.Main}, {Endpoint: "e", Run: "a/b", Strand: agent.Main}} {
		if _, err := b.Store.Admit(b.Context(), bad); err == nil {
			b.Errorf("%+v was judged", bad)
		}
	}
}

func turnsByRun(b *bed) {
	for range 3 {
		b.admit(b.Store, call("r0", agent.Main))
	}
	wide := func(n int) agent.Admission { return call("wide", agent.TaskStrand(agent.TaskID(rune('a'+n)))) }
	late := call("late", agent.Main)
	late.Background = true
	waiting := []agent.Admission{late, wide(0), wide(1), wide(2), wide(3), call("one", agent.Main), call("two", agent.Main)}
	for _, a := range waiting {
		if b.admit(b.Store, a) {
			b.Fatalf("%s was admitted", a.Member())
		}
	}
	var served []string
	for len(waiting) > 0 {
		b.earn(b.Store, 1)
		before := len(served)
		for i := 0; i < len(waiting); i++ {
			if b.admit(b.Store, waiting[i]) {
				served = append(served, waiting[i].Member())
				waiting = slices.Delete(waiting, i, i+1)
				i--
			}
		}
		if len(served) != before+1 {
			b.Fatalf("one call was earned, and %v were served", served[before:])
		}
	}
	want := []string{"wide/task/a", "one/main", "two/main", "wide/task/b", "wide/task/c", "wide/task/d", "late/main"}
	if !slices.Equal(served, want) {
		b.Errorf("served %v, want %v", served, want)
	}
}

func lostPlace(b *bed) {
	for range 3 {
		b.admit(b.Store, call("r0", agent.Main))
	}
	b.earn(b.Store, 3)
	quick := func(run agent.RunID) agent.Admission {
		a := call(run, agent.Main)
		a.Charges[0].Takes, a.Charges[0].Ahead = 20*time.Millisecond, 0
		return a
	}
	if !b.admit(b.Store, quick("first")) || b.admit(b.Store, quick("gone")) {
		b.Fatal("the second call was to wait")
	}
	b.Log("nobody waits for ever behind one that does not come")
	for began := time.Now(); !b.admit(b.Store, quick("next")); {
		if time.Since(began) > agent.AdmissionGrace+5*time.Second {
			b.Fatal("the next in the line was never admitted")
		}
		<-time.After(50 * time.Millisecond)
	}
}

func givenBack(b *bed) {
	for range 3 {
		b.admit(b.Store, call("r1", agent.Main))
	}
	if b.admit(b.Store, call("r1", agent.Main)) {
		b.Fatal("a fourth call was admitted")
	}
	if !b.admit(b.Store, call("r1", agent.Main, agent.Charge{Limit: "requests", Takes: -time.Hour, Ahead: 2 * time.Hour})) {
		b.Error("what was given back with the call is not there")
	}
	b.Log("no more is given back than was taken")
	b.earn(b.Store, 100)
	for i := range 4 {
		if b.admit(b.Store, call("r2", agent.Main)) != (i < 3) {
			b.Errorf("call %d of four", i+1)
		}
	}
}

func heldEndpoint(b *bed) {
	hold := agent.Admission{Endpoint: "model}x", Charges: []agent.Charge{{Limit: "requests", Hold: time.Minute, Ahead: 2 * time.Hour}}}
	for range 3 { // several calls are told so at once
		b.admit(b.Store, hold)
	}
	if b.admit(b.Store, call("r1", agent.Main)) {
		b.Error("a call was admitted while the endpoint is held")
	}
	b.admit(b.Store, agent.Admission{Endpoint: "model}x", Charges: []agent.Charge{{Limit: "requests", Takes: -time.Minute, Ahead: 2 * time.Hour}}})
	if !b.admit(b.Store, call("r1", agent.Main)) {
		b.Error("the endpoint was held for longer than the longest of what was asked")
	}
}
