package discord

// outlet is the state of the showing side.
type outlet struct{}

func (o *outlet) open() {}
