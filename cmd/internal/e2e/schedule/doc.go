// Package schedule is the suite of schedules: thirty of them on three replicas,
// one of which is killed now and then, over one Redis and one Slack; and one on
// the clocks of five. Each tick is posted once, and none is missing.
//
//	crowd_test.go    the crowd of schedules, and what happens to it
//	once_test.go     one schedule, five clocks
//	cluster_test.go  the replicas, child processes that serve as `deckhand serve` does
//	check_test.go    what must hold of ticks and posts
//
// DECKHAND_SOAK=1 makes it long, and Slack rude. When a schedule comes is tested in
// bot/schedule, what the clock does in bot/recurring.
package schedule
