package slack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
)

// People talk in a thread of their own; while the bot is away, somebody asks it
// there.
func TestMentionsInOldThreadsAreReadBack(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Mention(slacktest.Ann, slacktest.General, "", "first")
	thread := r.Say(slacktest.Ann, slacktest.General, "", "the build is red")
	r.Hears(1)
	r.settled()
	r.until("the mark is past the thread's beginning", func() bool {
		r.s.in.SaveMarks(t.Context(), true)
		v, _ := r.Names.Value(t.Context(), r.s.marksName()+":"+slacktest.General)
		return v >= thread
	})
	r.stop()
	// the overlap of the whole connection would read the thread's beginning again
	if err := r.Names.SetValue(t.Context(), r.s.marksName(), ""); err != nil {
		t.Fatal(err)
	}
	r.HoldEvents()
	r.Mention(slacktest.Ben, slacktest.General, thread, "please find out why")
	r.Mention(slacktest.Ben, slacktest.General, "", "last")
	r.open(nil, true)
	r.begin()
	if got := wordsOf(t, r.Hears(3)); got != "first, please find out why, last" {
		t.Errorf("heard %s", got)
	}
}

// However much was said, all of it is heard, in its order, and the mark is never
// further than that.
func TestLongBacklogsAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	const many = 2*ingest.MaxFound + 300 // in a direct conversation everything counts
	r := listen(t, slacktest.Config{}, nil)
	r.DM(slacktest.Ann, "first")
	r.Hears(1)
	r.settled()
	r.until("it was here", func() bool { v, _ := r.Names.Value(t.Context(), r.s.marksName()); return v != "" })
	r.stop()
	r.HoldEvents()
	for i := range many {
		r.DM(slacktest.Ann, fmt.Sprintf("%05d", i))
	}
	r.open(nil, true)
	r.begin()
	words := strings.Split(wordsOf(t, r.Hears(1 + many)[1:]), ", ")
	if !slices.IsSorted(words) || len(words) != many || len(slices.Compact(words)) != many {
		t.Errorf("heard %d things, in order %v", len(words), slices.IsSorted(words))
	}
	r.until("all is well", r.s.in.Marks.AllHeard)
}

// So are any number of threads in which runs live, and long ones.
func TestManyThreadsAreReadBack(t *testing.T) {
	t.Parallel()
	const threads, replies = 230, ingest.MaxFound + 250
	r := listen(t, slacktest.Config{}, nil)
	r.Mention(slacktest.Ann, slacktest.General, "", "first")
	r.Hears(1)
	var roots []string
	for range threads {
		roots = append(roots, r.Say(slacktest.Ann, slacktest.General, "", "…"))
	}
	r.settled()
	for _, root := range roots {
		if err := r.Names.SetValue(t.Context(), "thread/"+general(root).String(), "run-"+root); err != nil {
			t.Fatal(err)
		}
	}
	r.until("it was here", func() bool { v, _ := r.Names.Value(t.Context(), r.s.marksName()); return v != "" })
	r.stop()
	r.HoldEvents()
	want := map[bot.Address][]string{}
	reply := func(root, text string) {
		r.Say(slacktest.Ben, slacktest.General, root, text)
		want[general(root)] = append(want[general(root)], text)
	}
	for i, root := range roots {
		reply(root, fmt.Sprintf("in thread %d", i))
	}
	for i := range replies {
		reply(roots[7], fmt.Sprintf("%05d", i))
	}
	r.open(nil, true)
	r.begin()
	heard := map[bot.Address][]string{}
	for _, in := range r.Hears(1 + threads + replies)[1:] {
		heard[in.Where] = append(heard[in.Where], said(t, in).Text)
	}
	for where, words := range want {
		if !slices.Equal(heard[where], words) {
			t.Errorf("in %s %d things were heard, want %d", where, len(heard[where]), len(words))
		}
	}
}

// A process that dies while it reads back has not left out what it had not read
// yet, whatever came newly meanwhile.
func TestMarksWaitForWhatIsBeingReadBack(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Mention(slacktest.Ann, slacktest.General, "", "first")
	r.Hears(1)
	r.settled()
	r.until("it was here", func() bool { v, _ := r.Names.Value(t.Context(), r.s.marksName()); return v != "" })
	r.stop()
	before, _ := r.Names.Value(t.Context(), r.s.marksName()+":"+slacktest.General)
	r.HoldEvents()
	r.Mention(slacktest.Ann, slacktest.General, "", "missed")
	r.ReleaseEvents(false)
	r.Fail("conversations.history", 1000, slacktest.Unavailable())
	r.open(nil, true)
	r.begin()
	r.Mention(slacktest.Ben, slacktest.General, "", "newly")
	r.until("it is heard", func() bool { return len(r.Hears(2)) >= 2 })
	r.s.in.SaveMarks(t.Context(), true)
	if at, _ := r.Names.Value(t.Context(), r.s.marksName()+":"+slacktest.General); at != before {
		t.Errorf("the mark went from %s to %s", before, at)
	}
}
