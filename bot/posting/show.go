package posting

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// Keeping messages up to date: what each one shows is remembered, so that it
// is edited only when that changes.

// maxDisplays bounds what is remembered of cards: a forgotten one is edited
// once more than it needs.
const maxDisplays = 4096

// display is what this process knows of a run's messages on the screen. Other
// processes may have edited them since.
type display struct {
	mu       sync.Mutex
	looked   time.Time
	messages map[string]*screen
	session  session
}

// screen is one message.
type screen struct {
	shows   [sha256.Size]byte // what it shows, without times; zero: unknown
	edited  time.Time
	booked  time.Time // a turn to edit it that was taken ahead
	refused int       // times in a row that the platform refused the bot
	barred  int       // times in a row that the place did not take an edit
	gone    bool
}

// target is a message as it should be.
type target struct {
	key     string
	where   string
	kind    agent.PostKind
	card    func(now time.Time) bot.Card
	content [sha256.Size]byte
}

// Show brings the run's card up to date, and questions whose votes have come
// in. It returns when to look again, zero: when something happens.
func (v *Poster) Show(ctx context.Context, r agent.Run) (again time.Duration) {
	d := v.display(r.ID)
	d.mu.Lock()
	defer d.mu.Unlock()
	sooner := func(wait time.Duration) {
		if wait > 0 && (again == 0 || wait < again) {
			again = wait
		}
	}
	for _, t := range v.targets(r) {
		m := d.messages[t.key]
		if m == nil {
			m = &screen{}
			d.messages[t.key] = m
		}
		sooner(v.update(ctx, r, m, t))
	}
	sooner(v.keepSession(ctx, r, &d.session))
	if r.Ended != nil && again == 0 {
		v.mu.Lock()
		delete(v.cards, r.ID)
		v.mu.Unlock()
	}
	return again
}

// display is what is known of the run; what was not looked at for longest is
// forgotten for it.
func (v *Poster) display(id agent.RunID) *display {
	now := time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	d, known := v.cards[id]
	if !known {
		if len(v.cards) >= maxDisplays {
			oldest := id
			for other, o := range v.cards {
				if known := v.cards[oldest]; known == nil || o.looked.Before(known.looked) {
					oldest = other
				}
			}
			delete(v.cards, oldest)
		}
		d = &display{messages: map[string]*screen{}}
		v.cards[id] = d
	}
	d.looked = now
	return d
}

// noteShown notes that a card was posted just as the run stands.
func (v *Poster) noteShown(r agent.Run, key string, now time.Time) {
	d := v.display(r.ID)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.messages[key] = &screen{shows: cardContent(r), edited: now}
}

// targets are the messages that are kept up to date.
func (v *Poster) targets(r agent.Run) []target {
	var list []target
	content := cardContent(r)
	for key, where := range agent.Cards(r) {
		draw := func(now time.Time) bot.Card {
			return v.live(r, key, now)
		}
		list = append(list, target{key, where, agent.PostCard, draw, content})
	}
	if r.Ended != nil {
		return list
	}
	for _, c := range r.OpenCheckpoints() {
		if len(c.Votes) == 0 {
			continue
		}
		for _, key := range []string{agent.KeyAsk(c.ID), agent.KeyAgain(agent.KeyAsk(c.ID))} {
			if where := r.Shown[key].Message; where != "" {
				draw := func(now time.Time) bot.Card {
					card := card.Question(r, c, now, v.audience)
					card.Key.Name, card.Mentions = key, nil
					return card
				}
				list = append(list, target{key, where, agent.PostCheckpoint, draw, sha256.Sum256([]byte(card.Votes(r, c)))})
			}
		}
	}
	return list
}

// live is the run's card as one of its places shows it: where its questions do not
// stand it says where they do.
func (v *Poster) live(r agent.Run, key string, now time.Time) bot.Card {
	c := card.LiveAt(r, key, now)
	if key == agent.KeyCard {
		return c
	}
	plain := card.Live(r, now)
	plain.Key = c.Key
	linked := card.Deciding(plain, r, func(message string) string {
		platform, at, err := v.platformAt(message)
		linker, can := platform.(bot.Linker)
		if err != nil || !can {
			return ""
		}
		return linker.Link(at)
	})
	if len(linked.Parts) == len(plain.Parts) { // no question is posted yet
		return c
	}
	return linked
}

// cardContent identifies what a card says, without what changes by itself. While
// the run goes on, figures are left to the heartbeat; while it rests, everything
// new is worth an edit, since another process may have shown something else.
func cardContent(r agent.Run) [sha256.Size]byte {
	at := fmt.Sprint(r.Seq, " ")
	if r.State() == agent.RunRunning {
		at, r.Spent = "", agent.Spent{}
	}
	return sha256.Sum256(fmt.Appendf([]byte(at), "%#v", card.Live(r, r.Started)))
}

// update edits one message where that is due, and returns when to look again.
func (v *Poster) update(ctx context.Context, r agent.Run, m *screen, t target) time.Duration {
	now := time.Now()
	changed := m.shows != t.content
	beats := t.kind == agent.PostCard && card.Executes(r)
	switch {
	case m.gone:
		return 0
	case !changed && !beats:
		return 0
	case !changed && now.Sub(m.edited) < v.heartbeat:
		return m.edited.Add(v.heartbeat).Sub(now)
	case now.Sub(m.edited) < v.every:
		return m.edited.Add(v.every).Sub(now)
	}
	platform, message, err := v.platformAt(t.where)
	if errors.Is(err, errElsewhere) {
		return elsewhere
	}
	if err != nil {
		m.gone = true
		v.log.Error("a message cannot be edited", "run", r.ID, "message", t.where, "err", err)
		return 0
	}
	if wait := v.takeTurn(ctx, platform, message, r, m, t); wait > 0 {
		return wait
	}
	now = time.Now()
	err = platform.Edit(ctx, message, v.platforms.IntroduceIn(ctx, platform.Name(), t.card(now)))
	v.noteEdited(ctx, r, t.key, err)
	if wait := v.noteEdit(r, m, t, err, now); wait > 0 || !beats || m.gone {
		return wait
	}
	return v.heartbeat
}

// forClosings is how many turns to edit a card leaves: a question that is
// decided loses its buttons before cards are brought up to date.
const forClosings = 2

// takeTurn takes a turn to edit. The last edit of a run books its turn, and a
// heartbeat leaves half of them to changes.
func (v *Poster) takeTurn(ctx context.Context, platform bot.Platform, message bot.Address, r agent.Run, m *screen, t target) time.Duration {
	now := time.Now()
	if !m.booked.IsZero() {
		if wait := m.booked.Sub(now); wait > 0 {
			return wait
		}
		m.booked = time.Time{}
		return 0
	}
	_, pace := platform.Paces(message)
	pace.Book = r.Ended != nil
	switch {
	case m.shows == t.content:
		pace.Leave = pace.Burst / 2
	case t.kind == agent.PostCard && r.Ended == nil:
		pace.Leave = forClosings
	}
	wait, err := v.paces.Take(ctx, pace)
	if err != nil {
		v.log.Warn("cannot take a turn to edit; trying again", "run", r.ID, "err", err)
		return lostPause
	}
	if pace.Book && wait > 0 {
		m.booked = now.Add(wait)
	}
	return wait
}

// noteEdit notes how an edit went, and returns when to try it again.
func (v *Poster) noteEdit(r agent.Run, m *screen, t target, err error, now time.Time) time.Duration {
	m.edited = now
	log := v.log.With("run", r.ID, "message", t.where, "err", err)
	busy, isBusy := errors.AsType[*bot.BusyError](err)
	if !errors.Is(err, bot.ErrRefused) {
		m.refused = 0
	}
	if !errors.Is(err, bot.ErrBarred) {
		m.barred = 0
	}
	switch {
	case err == nil:
		m.shows = t.content
	case isBusy:
		return max(busy.After, time.Millisecond)
	case lost(err):
		return max(v.every, lostPause)
	case errors.Is(err, bot.ErrRefused):
		log.Error("the platform refuses the bot; look at its token and scopes. Trying again")
		m.refused++
		return backoff(m.refused - 1)
	case errors.Is(err, bot.ErrBarred) && !over(r, now):
		log.Warn("a message's place takes no edit now; trying again")
		m.barred++
		return pauseAfter(m.barred)
	case outOfReach(err):
		log.Warn("a message is not there any more; it is left as it is")
		m.gone = true
	default:
		log.Error("a message cannot be edited")
		m.shows = t.content // until there is something else to show
	}
	return 0
}
