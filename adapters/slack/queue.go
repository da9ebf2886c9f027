package slack

import "github.com/deckhand-bot/deckhand/bot"

// queue keeps the order in which what shares a lane came in.
type queue struct{ lanes *bot.Lanes }

func newQueue(parallel, limit int) *queue { return &queue{bot.NewLanes(parallel, limit)} }

// add starts the job with run when its turn has come; false: there are too many.
func (q *queue) add(lanes []string, run func(func()), job func()) bool {
	return q.lanes.Add(lanes, run, job)
}
