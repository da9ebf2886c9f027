package storetest

// This file tests names and their values: they are set with a commit or not
// at all, found by prefix, and removed with the run that they point at.

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

var nameTests = []test{
	{"a commit sets names, seen from everywhere", setNames},
	{"a refused commit sets no name", refusedNames},
	{"a commit sent again sets nothing again", namesAgain},
	{"an empty value removes a name", removedNames},
	{"a prefix is compared byte by byte", prefixes},
	{"a long list is complete", manyNames},
	{"names go with the run that they point at", expiredNames},
	{"what is no name is refused", noNames},
	{"of many values one stays", nameCrowd},
}

type names = map[string]string

func setNames(b *bed) {
	other := b.Beside(b.T)
	run, lease := b.leased()
	b.value(b.Store, "thread/a", "")
	b.commit(agent.Commit{Run: run, Set: names{"thread/a": string(run), "thread/b": "x"}, Events: []agent.Event{say(agent.Main, "fact")}})
	for _, s := range []Store{b.Store, other} {
		b.value(s, "thread/a", string(run))
		b.values(s, "thread/", names{"thread/a": string(run), "thread/b": "x"})
	}
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 2, Set: names{"thread/b": "y", "thread/c": "z"}, Wake: wake{agent.Main: agent.Parked}})
	b.Log("without a run, from beside")
	b.commitTo(other, agent.Commit{Set: names{"thread/d": "d"}, Once: []string{"message"}})
	b.set(other, "thread/c", "newer")
	for _, s := range []Store{b.Store, other} {
		b.values(s, "thread/", names{"thread/a": string(run), "thread/b": "y", "thread/c": "newer", "thread/d": "d"})
	}
}

func refusedNames(b *bed) {
	run, lease := b.leased()
	own := "run/" + string(run) + "/full"
	b.commit(agent.Commit{
		Run: run, Once: []string{"used"}, Set: names{"kept": "before"},
		Spend: []agent.Spend{{Counter: "full", Nano: 10}, {Counter: own, Nano: 10}},
	})
	whole := agent.Commit{
		Run: run, Lease: &lease, Seen: 1, Strict: true, Once: []string{"new"},
		Set: names{"kept": "after", "new": "name", "thread": string(run)}, Events: []agent.Event{say(agent.Main, "a")},
	}
	gone, taken, unseen, budget, ownBudget, seen := whole, whole, whole, whole, whole, whole
	gone.Lease = &agent.Lease{Run: run, Strand: agent.Main, Epoch: lease.Epoch + 1, Turn: lease.Turn}
	taken.Lease = &agent.Lease{Run: run, Strand: agent.Main, Epoch: lease.Epoch, Turn: lease.Turn + 1}
	unseen.Seen = 0
	budget.Spend = []agent.Spend{{Counter: "full", Nano: 1, Limit: 10}}
	ownBudget.Spend = []agent.Spend{{Counter: own, Nano: 1, Limit: 10}}
	seen.Once = []string{"new", "used"}
	for _, tt := range []struct {
		commit agent.Commit
		want   error
	}{
		{gone, agent.ErrConflict}, {taken, agent.ErrConflict}, {unseen, agent.ErrStale},
		{budget, agent.ErrBudget}, {ownBudget, agent.ErrBudget}, {seen, agent.ErrSeen},
	} {
		b.refused(tt.commit, tt.want)
		b.values(b.Store, "", names{"kept": "before"})
	}
	b.commit(whole)
	b.values(b.Store, "", whole.Set)
}

func namesAgain(b *bed) {
	run, lease := b.leased()
	for _, c := range []agent.Commit{
		{ID: agent.NewID(), Run: run, Set: names{"thread": "fact"}, Events: []agent.Event{say(agent.Main, "fact")}},
		{ID: agent.NewID(), Run: run, Lease: &lease, Set: names{"thread": "decision"}, Events: []agent.Event{say(agent.Main, "decision")}},
	} {
		first := b.commit(c)
		b.value(b.Store, "thread", c.Set["thread"])
		b.again(c, first)
		b.set(b.Store, "thread", "newer")
		b.again(c, first)
		b.value(b.Store, "thread", "newer")
	}
}

func removedNames(b *bed) {
	run := b.start()
	b.commit(agent.Commit{Run: run, Set: names{"a": "1", "b": "2", "c": "3"}})
	b.set(b.Store, "a", "")
	b.commit(agent.Commit{Run: run, Set: names{"b": "", "never": ""}})
	b.set(b.Store, "never", "")
	b.value(b.Store, "a", "")
	b.values(b.Store, "", names{"c": "3"})
	b.set(b.Store, "a", "again")
	b.values(b.Store, "", names{"a": "again", "c": "3"})
}

func prefixes(b *bed) {
	all := names{}
	for i, name := range []string{
		"a", "A", "a/", "a/b", "a/b/c", "a0", "ab", "b", "%", "%a", "a%b", "_", "_a", "a_b", "axb", "*", "*a", "a*b", "[", "[a]", "[a", "(a", "-", "+",
		"?", "\\", "'", "\"", "n", "v", " ", "a b", "\n", "\x01", "a\x01", "é", "e\u0301", "日本", "日本語", "日月", "\U0010ffff", "\U0010ffffx", "\xff", "\xff\xff", "\xffa", "slack:T1:C1:17.2",
	} {
		all[name] = fmt.Sprintf("value %d of %%_*[", i)
		b.set(b.Store, name, all[name])
	}
	other := b.Beside(b.T)
	ask := []string{"", "no such", "\xfe", "slack:T1:", "日", "\xe6\x97", "a/", "a\x00", "\x00"}
	for name := range all {
		b.value(b.Store, name, all[name])
		ask = append(ask, name)
	}
	for _, prefix := range ask {
		want := maps.Clone(all)
		maps.DeleteFunc(want, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) })
		b.values(b.Store, prefix, want)
		b.values(other, prefix, want)
	}
	b.value(b.Store, "", "")
	b.value(b.Store, "no such", "")
	b.value(b.Store, "a\x00", "")
}

func manyNames(b *bed) {
	const n = 1203
	run, want := b.start(), names{}
	for i := range n {
		want[fmt.Sprintf("many/%d", i)] = strings.Repeat("v", i%40+1)
	}
	b.commit(agent.Commit{Run: run, Set: want})
	b.set(b.Store, "man", "before")
	b.set(b.Store, "many0", "behind")
	b.values(b.Store, "many/", want)
	b.values(b.Store, "many/120", names{"many/120": "v", "many/1200": "v", "many/1201": "vv", "many/1202": "vvv"})
}

func expiredNames(b *bed) {
	old, young := b.start(), b.start()
	b.commit(agent.Commit{Run: old, Set: names{
		"thread/1": string(old), "thread/2": string(old), "thread/3": string(old), "thread/4": string(young), "message/1": "17.2",
		string(old): "is a name here", "longer": string(old) + "x", "shorter": string(old)[:15],
		"bots/1": string(old) + "/3", "bots/2": string(young) + "/\n%", "bots/3": "x/" + string(old),
		agent.PartialAnswer(agent.CheckpointID(old+"-12345678"), "1"): "yes\nno", agent.PartialAnswer(agent.CheckpointID(young+"-12345678"), "1"): "no",
	}})
	b.set(b.Store, "by hand", string(old))
	b.commit(agent.Commit{Run: young, Set: names{"thread/2": string(young), "by hand too": string(old)}})
	b.set(b.Store, "thread/3", "")
	want := names{
		"thread/2": string(young), "thread/4": string(young), "message/1": "17.2", "bots/2": string(young) + "/\n%", "bots/3": "x/" + string(old),
		agent.PartialAnswer(agent.CheckpointID(young+"-12345678"), "1"): "no",
		string(old): "is a name here", "longer": string(old) + "x", "shorter": string(old)[:15],
	}
	r := b.commit(agent.Commit{Run: old, Ends: true, Events: []agent.Event{say(agent.Main, "over")}})
	if n, err := b.Store.Expire(b.Context(), r.At); err != nil || n != 0 {
		b.Fatalf("expired %d, %v; want nothing yet", n, err)
	}
	b.value(b.Store, "thread/1", string(old))
	b.value(b.Store, "by hand", string(old))
	if n, err := b.Store.Expire(b.Context(), r.At.Add(2*time.Millisecond)); err != nil || n != 1 {
		b.Fatalf("expired %d, %v; want one", n, err)
	}
	b.values(b.Store, "", want)
	b.values(b.Beside(b.T), "", want)
}

func noNames(b *bed) {
	run := b.start()
	for name, value := range (names{"": "value", "zero\x00byte": "value", "name": "zero\x00byte"}) {
		c := agent.Commit{ID: agent.NewID(), Run: run, Set: names{name: value}, Events: []agent.Event{say(agent.Main, "no")}}
		if r, err := b.Store.Commit(b.Context(), c); err == nil {
			b.Errorf("a commit may set %q to %q: %+v", name, value, r)
		}
		if err := b.Store.SetValue(b.Context(), name, value); err == nil {
			b.Errorf("%q may be set to %q", name, value)
		}
	}
	b.texts(run)
	b.values(b.Store, "", nil)
}

// nameCrowd sets one name from many sides: each value is there once, by name
// and by value, so that a run that loses it takes nothing with it.
func nameCrowd(b *bed) {
	handles := []Store{b.Store, b.Beside(b.T)}
	runs := make([]agent.RunID, 8)
	for i := range runs {
		runs[i] = b.start()
	}
	b.together(len(runs), func(ctx context.Context, i int) error {
		for turn := range 5 {
			_, err := handles[i%2].Commit(ctx, agent.Commit{ID: agent.NewID(), Run: runs[i], Set: names{"shared": string(runs[i]), "own/" + string(runs[i]): strconv.Itoa(turn)}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	winner, err := b.Store.Value(b.Context(), "shared")
	if err != nil || winner == "" {
		b.Fatalf("the shared name: %q, %v", winner, err)
	}
	want := names{"shared": winner}
	var last agent.Receipt
	for _, run := range runs {
		want["own/"+string(run)] = "4"
		if string(run) != winner {
			last = b.commit(agent.Commit{Run: run, Ends: true})
		}
	}
	b.values(handles[1], "", want)
	if n, err := b.Store.Expire(b.Context(), last.At.Add(2*time.Millisecond)); err != nil || n != len(runs)-1 {
		b.Fatalf("expired %d, %v; want all but one", n, err)
	}
	b.values(b.Store, "", want)
}
