package discord

import (
	"context"
	"time"
)

// intake is the state of the listening side.
type intake struct{}

func (in *intake) open() {}

// noteCall learns from a call's result whether the bot's token still works.
func (d *Discord) noteCall(_ string, _ error) {}

// pass waits; false: ctx ended.
func pass(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
