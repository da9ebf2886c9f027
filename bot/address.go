package bot

import (
	"errors"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// ErrAddress is returned for text that is no address.
var ErrAddress = errors.New("not an address")

// Address is a place on a platform, written "platform:workspace:channel:id".
// ID is a thread's or a message's id; empty, the address is the channel. A channel
// within another one, which fewer people see, is written "outer+own" (agent.Inner).
type Address struct {
	Platform  string `json:"Platform"`
	Workspace string `json:"Workspace"`
	Channel   string `json:"Channel"`
	ID        string `json:"ID"`
}

// ParseAddress reads "platform:workspace:channel" and "platform:workspace:channel:id".
func ParseAddress(s string) (Address, error) {
	parts := strings.SplitN(s, ":", 4)
	if len(parts) < 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Address{}, fmt.Errorf("%w: %q; write platform:workspace:channel or platform:workspace:channel:thread", ErrAddress, s)
	}
	a := Address{Platform: parts[0], Workspace: parts[1], Channel: parts[2]}
	if len(parts) == 4 {
		a.ID = parts[3]
	}
	return a, nil
}

// String is the address as it is written.
func (a Address) String() string {
	if a == (Address{}) {
		return ""
	}
	return a.Platform + ":" + a.Workspace + ":" + a.Channel + ":" + a.ID
}

// Place is the address of the channel: "platform:workspace:channel".
func (a Address) Place() string { return a.Platform + ":" + a.Workspace + ":" + a.Channel }

// Rules is the place whose rules count there: of a private place, what it lies in.
func (a Address) Rules() string { return agent.Outer(a.Place()) }

// Own is the channel's own id on the platform.
func (a Address) Own() string { return a.Channel[strings.LastIndex(a.Channel, agent.Inner)+1:] }

// Inner reports whether the channel is a private place within another one.
func (a Address) Inner() bool { return strings.Contains(a.Channel, agent.Inner) }

// At is the address of a thread or message in the same channel.
func (a Address) At(id string) Address {
	a.ID = id
	return a
}

// Folder is the folder of the channel's runs in the workspace: PLATFORM-CHANNELID.
func (a Address) Folder() string { return a.Platform + "-" + a.Channel }
