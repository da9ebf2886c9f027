package slacktest

// This file declares what a workspace consists of, from users to files, and
// the ids that are there from the start: the types and names that tests use
// to set up and compare.

import (
	"encoding/json"
	"time"
)

// The ids that every workspace starts with.
const (
	Team      = "T1"
	OtherTeam = "T9"
	General   = "C1"   // #general, public, the bot is in it
	Ann       = "U1"   // full member
	Ben       = "U2"   // full member
	Guest     = "U3"   // is_restricted
	Gone      = "U4"   // deactivated
	Stranger  = "U9"   // of OtherTeam
	BotUser   = "UBOT" // the app's user
	Bot       = "BBOT" // the app's bot
	App       = "A1"
)

// User is a person or a bot of the workspace.
type User struct {
	ID, Name, RealName string
	TeamID             string // default Team
	Email              string
	TZ                 string // default Europe/Berlin
	Bot                bool
	BotID              string
	Admin, Owner       bool
	Restricted         bool // a guest
	UltraRestricted    bool // a guest of one channel
	Stranger           bool // of another team, through a shared channel
	Deleted            bool
}

// Channel is a conversation of any kind.
type Channel struct {
	ID, Name string
	Private  bool
	IM       string // the person of a direct message
	MPIM     bool
	Archived bool
	Shared   bool // with another team
	Topic    string
	Members  []string // people and bots; the bot hears only channels that list BotUser
}

// UserGroup is a handle for several people.
type UserGroup struct {
	ID, Handle, Name string
	Users            []string
	Disabled         bool
}

// Message is a message as it stands now.
type Message struct {
	Channel, TS, ThreadTS string
	User, BotID           string
	Subtype, Text         string
	Blocks                json.RawMessage
	Attachments           json.RawMessage
	Metadata              *Metadata
	Files                 []File
	Reactions             []Reaction
	Edits                 []Edit // what it was before, oldest first
	Posted                time.Time
	Deleted               bool
	Broadcast             bool
}

// Metadata is what an app attaches to its message.
type Metadata struct {
	EventType    string          `json:"event_type"`
	EventPayload json.RawMessage `json:"event_payload"`
}

// Edit is a state that a message had until At.
type Edit struct {
	At     time.Time
	By     string
	Text   string
	Blocks json.RawMessage
}

// Reaction is one emoji and who set it.
type Reaction struct {
	Name  string
	Users []string
}

// File is a file of the workspace with its bytes.
type File struct {
	ID, Name, Title, Mimetype string
	User                      string
	Data                      []byte
	Channels                  []string
	Created                   time.Time
}

// Upload is a file that a person attaches to a message.
type Upload struct {
	Name, Mimetype string
	Data           []byte
}

// Ephemeral is a message that only one person saw.
type Ephemeral struct {
	Channel, ThreadTS, TS string
	User                  string
	Text                  string
	Blocks                json.RawMessage
	Hook                  bool // through a response_url
	Gone                  bool // deleted by the app
	At                    time.Time
}

// View is a modal or a Home.
type View struct {
	ID, Type, CallbackID string
	User                 string
	ExternalID           string
	Title                string
	PrivateMetadata      string
	Hash                 string
	Blocks               json.RawMessage
	Raw                  json.RawMessage // as the app sent it
	Open                 bool
	Updates              int
	At                   time.Time
}

// Status is what a thread showed from a time on: the text of
// assistant.threads.setStatus, or "processing" of agents.sessions.setStatus.
type Status struct {
	Channel, ThreadTS string
	Status            string
	At                time.Time
}

// Thread is what the app told an assistant's thread.
type Thread struct {
	Channel, ThreadTS string
	Prompts           json.RawMessage
}

// Request is one call of the Web API or of a response_url.
type Request struct {
	Method string
	At     time.Time
	Args   map[string]string // without the token
	Status int               // of HTTP; 0: the connection was cut
	Error  string            // of Slack, or the fault that was injected
	Known  bool
}

// Delivery is one attempt to hand something to the app.
type Delivery struct {
	Kind       string // events_api, interactive, slash_commands
	Type       string // of the event or the interaction
	EventID    string
	EnvelopeID string
	Attempt    int
	Reason     string // of the redelivery
	Link       int    // the socket, counted from 1
	Sent       time.Time
	Acked      time.Time
	Latency    time.Duration
	Error      string // why it was not acknowledged
	Response   json.RawMessage
}
