package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// chatUsage are the words that the commands `slack` and `discord` share:
//
//	start [signed] ...                a platform, and the variables that lead to it
//	reach http://HOST:PORT            signed requests go there; the address is asked first, as the platform does
//	outage on|off                     nothing is answered
//	heals                             no more faults
//	says NAME TEXT [VAR]              a mention in #general, which begins the thread VAR
//	replies NAME THREAD TEXT          a message in a thread that Deckhand may read
//	clicks NAME THREAD BUTTON         the newest message with that button, when it is there
//	fills NAME [FIELD=TEXT...]        the form that lies before them, and sends it
//	shows THREAD REGEXP [VAR]         waits until the thread, as people read it, has that; prints it
//	posts THREAD KIND N               so many posts of a kind are in the thread, and no more; "seen" counts the eyes
//	prompt                            everything was acknowledged within a second
const chatUsage = "start|reach|outage|heals|says|replies|clicks|fills|shows|posts|prompt"

// far is a platform on loopback with people in it, as scripts use it.
type far interface {
	world
	people
	text(thread string) string
	posts(thread, kind string) int
	deliveries() []delivered
}

// world is the platform's own side.
type world interface {
	Wait(ctx context.Context, cond func() bool) error
	DeliverTo(base string)
	Outage(on bool)
	Heal()
	// challenge asks the address of signed requests whether it is Deckhand's.
	challenge(ctx context.Context) error
}

// people are those who use the platform.
type people interface {
	// called are their ids by the names that scripts use.
	called() map[string]string
	// mention begins a thread in #general.
	mention(by, text string) (thread string)
	reply(by, thread, text string)
	// Pass lets time pass: what is written from now on is stamped so much later.
	Pass(d time.Duration)
	// click presses the button of the newest message that has it.
	click(by, thread, button string) error
	// form is the one that lies before a person.
	form(by string) (id, text string, open bool)
	submit(id, by string, values map[string]string) error
}

// delivered is an event or an interaction, and when it was acknowledged.
type delivered struct {
	what  string
	acked bool
	after time.Duration
	lost  bool // on the platform's own account
}

// deed is what a word of a platform's command does, with the number of its arguments.
type deed[T far] struct {
	least int
	do    func(*testscript.TestScript, T, []string)
}

// chatDeeds are the words that every platform has.
var chatDeeds = map[string]deed[far]{
	"reach": {1, chatReach}, "outage": {1, chatOutage}, "heals": {0, chatHeals}, "says": {2, chatSays}, "replies": {3, chatReplies},
	"clicks": {3, chatClicks}, "fills": {1, chatFills}, "shows": {2, chatShows}, "posts": {3, chatPosts}, "prompt": {0, chatPrompt},
}

// perform does a word on a platform that was started.
func perform[T far](ts *testscript.TestScript, f T, own map[string]deed[T], args []string, usage string) {
	if d, known := own[args[0]]; known && len(args[1:]) >= d.least {
		d.do(ts, f, args[1:])
		return
	}
	d, known := chatDeeds[args[0]]
	if !known || len(args[1:]) < d.least {
		ts.Fatalf("usage: %s", usage)
	}
	d.do(ts, f, args[1:])
}

// comes waits until the platform is so.
func comes(f far, so func() bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return f.Wait(ctx, so) == nil
}

func idOf(ts *testscript.TestScript, f far, name string) string {
	id, known := f.called()[name]
	if !known {
		ts.Fatalf("nobody is called %s", name)
	}
	return id
}

func chatReach(ts *testscript.TestScript, f far, args []string) {
	f.DeliverTo(args[0])
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ts.Check(f.challenge(ctx))
}

func chatOutage(ts *testscript.TestScript, f far, args []string) {
	if args[0] != "on" && args[0] != "off" {
		ts.Fatalf("an outage is on or off, not %s", args[0])
	}
	f.Outage(args[0] == "on")
}

func chatHeals(_ *testscript.TestScript, f far, _ []string) { f.Heal() }

func chatSays(ts *testscript.TestScript, f far, args []string) {
	thread := f.mention(idOf(ts, f, args[0]), args[1])
	if len(args) > 2 {
		ts.Setenv(args[2], thread)
	}
}

// reading is how long people take to read before they write.
const reading = 3 * time.Second

func chatReplies(ts *testscript.TestScript, f far, args []string) {
	f.Pass(reading)
	f.reply(idOf(ts, f, args[0]), args[1], args[2])
}

func chatClicks(ts *testscript.TestScript, f far, args []string) {
	by := idOf(ts, f, args[0])
	var err error
	if !comes(f, func() bool { err = f.click(by, args[1], args[2]); return err == nil }) {
		ts.Fatalf("%s never finds %q to click (%v):\n%s", args[0], args[2], err, f.text(args[1]))
	}
}

func chatFills(ts *testscript.TestScript, f far, args []string) {
	by := idOf(ts, f, args[0])
	id, text := "", ""
	if !comes(f, func() (open bool) { id, text, open = f.form(by); return open }) {
		ts.Fatalf("no form lies before %s", args[0])
	}
	fmt.Fprint(ts.Stdout(), text)
	ts.Check(f.submit(id, by, fields(args[1:])))
}

// fields are the values of FIELD=TEXT.
func fields(args []string) map[string]string {
	values := map[string]string{}
	for _, arg := range args {
		field, text, _ := strings.Cut(arg, "=")
		values[field] = text
	}
	return values
}

func chatShows(ts *testscript.TestScript, f far, args []string) {
	re := pattern(ts, args[1])
	if !comes(f, func() bool { return matches(ts, re, f.text(args[0]), args[2:]) }) {
		ts.Fatalf("the thread never shows %q:\n%s", args[1], f.text(args[0]))
	}
	fmt.Fprint(ts.Stdout(), f.text(args[0]))
}

func chatPosts(ts *testscript.TestScript, f far, args []string) {
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	comes(f, func() bool { return f.posts(args[0], args[1]) >= want }) // marks come beside the posts
	if got := f.posts(args[0], args[1]); got != want {
		ts.Fatalf("%d posts of the kind %s, want %d:\n%s", got, args[1], want, f.text(args[0]))
	}
}

// chatPrompt also prints what the slowest took.
func chatPrompt(ts *testscript.TestScript, f far, _ []string) {
	comes(f, func() bool {
		return !slices.ContainsFunc(f.deliveries(), func(d delivered) bool { return !d.acked && !d.lost })
	})
	slowest := time.Duration(0)
	for _, d := range f.deliveries() {
		slowest = max(slowest, d.after)
		if !d.acked || d.after > time.Second {
			ts.Fatalf("not acknowledged within a second: %+v", d)
		}
	}
	fmt.Fprintln(ts.Stdout(), "acknowledged within", slowest)
}
