package memory

// The lines in front of endpoints whose limits are shared, for a store of one
// process. Redis does the same in script/admit.lua.

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Lines are the lines of one process, by endpoint. The zero Lines are empty.
//
// Runs take turns by rounds: whoever comes joins the round after the one that is
// being served, and the n-th strand of a run that waits joins the n-th. Within a
// round it goes by arrival. So a run with many strands waits with them for
// itself, not others for it.
type Lines struct {
	mu    sync.Mutex
	lines map[string]*line
}

type line struct {
	earned  map[string]int64 // by limit: when all that was taken is earned
	waiting []waiter         // in the order in which they are served
	runs    map[string]*runPlaces
	served  [2]int64 // the round that is being served, of people's runs and of background ones
	seq     int64
}

// waiter is somebody in a line. Told is when it was asked to come again.
type waiter struct {
	member, run       string
	class, round, seq int64
	told              int64
}

func (w waiter) before(o waiter) int {
	return cmp.Or(cmp.Compare(w.class, o.class), cmp.Compare(w.round, o.round), cmp.Compare(w.seq, o.seq))
}

// runPlaces are how many strands of a run wait, and the last round of them.
type runPlaces struct{ waiting, last int64 }

// Admit is agent.Archive's, by a clock in nanoseconds.
func (l *Lines) Admit(a agent.Admission, clock func() int64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == nil {
		l.lines = map[string]*line{}
	}
	in := l.lines[a.Endpoint]
	if in == nil {
		in = &line{earned: map[string]int64{}, runs: map[string]*runPlaces{}}
		l.lines[a.Endpoint] = in
	}
	return in.admit(a, clock())
}

func (l *line) admit(a agent.Admission, now int64) time.Duration {
	taking := l.book(a.Charges, now)
	if a.Strand == "" {
		l.take(taking, now)
		return 0
	}
	l.forget(a.Member(), now)
	place := slices.IndexFunc(l.waiting, func(w waiter) bool { return w.member == a.Member() })
	if place < 0 && len(l.waiting) > 0 {
		place = l.join(a)
	}
	wait := int64(0)
	for _, c := range taking {
		wait = max(wait, l.owed(c, now)+int64(max(place, 0))*int64(c.Takes)-int64(c.Ahead))
	}
	if wait <= 0 {
		l.take(taking, now)
		if place >= 0 {
			w := l.leave(place)
			l.served[w.class] = max(l.served[w.class], w.round)
		}
		return 0
	}
	if place < 0 {
		place = l.join(a)
	}
	wait = min(wait, int64(agent.MaxAdmissionWait))
	l.waiting[place].told = now + wait
	return time.Duration(wait)
}

// owed is how much was taken of the limit and is not earned yet.
func (l *line) owed(c agent.Charge, now int64) int64 {
	return min(max(l.earned[c.Limit]-now, 0), int64(c.Ahead+agent.MaxAdmissionDebt))
}

// book gives back and holds, and returns the charges that take something.
func (l *line) book(charges []agent.Charge, now int64) []agent.Charge {
	var taking []agent.Charge
	for _, c := range charges {
		if c.Takes > 0 {
			taking = append(taking, c)
			continue
		}
		owed := max(l.owed(c, now)+int64(c.Takes), 0)
		if c.Hold > 0 {
			owed = max(owed, int64(c.Ahead+c.Hold))
		}
		l.earned[c.Limit] = now + owed
	}
	return taking
}

func (l *line) take(charges []agent.Charge, now int64) {
	for _, c := range charges {
		l.earned[c.Limit] = now + l.owed(c, now) + int64(c.Takes)
	}
}

// join takes a place and returns it.
func (l *line) join(a agent.Admission) int {
	w := waiter{member: a.Member(), run: string(a.Run), seq: l.seq}
	if a.Background {
		w.class = 1
	}
	l.seq++
	r := l.runs[w.run]
	if r == nil {
		r = &runPlaces{}
		l.runs[w.run] = r
	}
	w.round = max(l.served[w.class], r.last) + 1
	r.waiting, r.last = r.waiting+1, w.round
	place, _ := slices.BinarySearchFunc(l.waiting, w, waiter.before)
	l.waiting = slices.Insert(l.waiting, place, w)
	return place
}

func (l *line) leave(place int) waiter {
	w := l.waiting[place]
	l.waiting = slices.Delete(l.waiting, place, place+1)
	if r := l.runs[w.run]; r.waiting > 1 {
		r.waiting--
	} else {
		delete(l.runs, w.run)
	}
	return w
}

// forget drops those at the head who did not come when they were told to.
func (l *line) forget(but string, now int64) {
	for len(l.waiting) > 0 {
		head := l.waiting[0]
		late := head.told < now-int64(agent.AdmissionGrace) || head.told > now+2*int64(agent.MaxAdmissionWait)
		if head.member == but || !late {
			return
		}
		l.leave(0)
	}
}

// CheckAdmission returns ErrPace, wrapped, for an admission that no store can
// judge: without an endpoint, with a strand but no run, or with a slash in the run.
func CheckAdmission(a agent.Admission) error {
	if a.Endpoint == "" || a.Strand != "" && a.Run == "" || strings.Contains(string(a.Run), "/") {
		return ErrPace
	}
	return nil
}
