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
