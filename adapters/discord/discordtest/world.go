package discordtest

// This file declares what the simulated Discord consists of: the people,
// servers and channels that every test starts with, and the types in which a
// test sets up a world and checks what became of it.

import (
	"encoding/json"
	"time"
)

// The ids that every world starts with.
const (
	Guild      = "100000000000000001"
	OtherGuild = "100000000000000002" // the bot is in it too; Ann owns it
	General    = "110000000000000001" // #general of Guild
	Elsewhere  = "110000000000000002" // #elsewhere of OtherGuild
	Forum      = "110000000000000003" // #reports of Guild, a forum
	Ann        = "120000000000000001" // member of Guild with the role Crew
	Ben        = "120000000000000002" // member of Guild with the role Crew
	Gus        = "120000000000000003" // member of Guild without roles
	Olga       = "120000000000000004" // owner of Guild
	Ada        = "120000000000000005" // administrator of Guild
	Eve        = "120000000000000009" // member of OtherGuild only
	Robot      = "120000000000000010" // another bot, in Guild
	Crew       = "130000000000000001" // a role
	Admins     = "130000000000000002" // a role with Administrator
	BotRole    = "130000000000000003" // the bot's own role in Guild
	OtherRole  = "130000000000000004" // the bot's own role in OtherGuild
	App        = "140000000000000001" // the application
	BotUser    = App                  // the application's user, which has the same id
)

// Kinds of channels.
const (
	TextChannel   = 0
	DMChannel     = 1
	NewsChannel   = 5
	PublicThread  = 11
	PrivateThread = 12
	ForumChannel  = 15
)

// Kinds of messages.
const (
	DefaultMessage = 0
	ThreadCreated  = 18 // a system message
	ReplyMessage   = 19
	CommandMessage = 20 // the answer to a slash command
	ThreadStarter  = 21 // a system message
	ContextMessage = 23 // the answer to a message command
)

// Flags of messages.
const (
	FlagHasThread  = 1 << 5
	FlagEphemeral  = 1 << 6
	FlagLoading    = 1 << 7 // "is thinking…"
	FlagComponents = 1 << 15
)

// User is a person or a bot.
type User struct {
	ID, Name, GlobalName string
	Bot                  bool
	NoDM                 bool // takes no direct messages
}

// guild is a server in the words of people.
type guild struct {
	ID, Name, Owner string
	Roles           []Role
	Members         []Member
	botIn           bool
}

// Role is a role of a guild.
type Role struct {
	ID, Name    string
	Permissions int64
	Mentionable bool
}

// Member is a person in a guild.
type Member struct {
	User, Nick string
	Roles      []string
}

// Overwrite changes the permissions of a role (Type 0) or a member (Type 1) in a channel.
type Overwrite struct {
	ID    string
	Type  int
	Allow int64
	Deny  int64
}

// Channel is a channel, a thread or a direct message.
type Channel struct {
	ID, Name    string
	Type        int
	Guild       string
	Parent      string // of a thread
	Owner       string // who opened a thread
	Recipient   string // the person of a direct message
	Topic       string
	Archived    bool
	Locked      bool
	AutoArchive int      // minutes
	Members     []string // of a thread
	Overwrites  []Overwrite
	Deleted     bool

	changed time.Time // of the archive state
}

// Thread says whether the channel is a thread.
func (c *Channel) Thread() bool { return c.Type == PublicThread || c.Type == PrivateThread }

// Message is a message as it stands now.
type Message struct {
	Channel, ID string
	Type        int
	Author      string
	Content     string
	Embeds      json.RawMessage
	Components  json.RawMessage
	Flags       int
	Nonce       string
	Files       []File
	Reactions   []Reaction
	Edits       []Edit // what it was before, oldest first
	Pings       Pings  // whom it really pinged
	ReplyTo     string // the message that it answers
	Interaction string // the interaction that it answers
	For         string // the only person who sees it; empty: everybody in the channel
	Posted      time.Time
	Edited      time.Time
	Deleted     bool
}

// Pings are who was pinged.
type Pings struct {
	Users    []string
	Roles    []string
	Everyone bool
}

// None says whether nobody was pinged.
func (p Pings) None() bool { return len(p.Users) == 0 && len(p.Roles) == 0 && !p.Everyone }

// Edit is a state that a message had until At.
type Edit struct {
	At         time.Time
	Content    string
	Embeds     json.RawMessage
	Components json.RawMessage
}

// Reaction is one emoji and who set it.
type Reaction struct {
	Name  string
	Users []string
}

// File is an attachment with its bytes.
type File struct {
	ID, Name, Mimetype string
	Description        string
	Data               []byte
}

// Upload is a file that a person attaches.
type Upload struct {
	Name, Mimetype string
	Data           []byte
}

// Options are what a person typed into the options of a slash command; an
// attachment is named by its file name.
type Options map[string]string

// Choice is one suggestion of an autocompletion.
type Choice struct {
	Name  string
	Value string
}

// Command is a command as the app registered it.
type Command struct {
	ID, Guild   string // Guild is empty for a global command
	Name        string
	Description string
	Type        int // 1 slash, 2 user, 3 message
	Raw         json.RawMessage
}

// Modal is a form that a person has or had before them.
type Modal struct {
	ID, CustomID string
	User         string
	Title        string
	Channel      string
	Components   json.RawMessage
	Open         bool
	At           time.Time
}

// Request is one call of the REST API.
type Request struct {
	Route  string // "POST /channels/{channel}/messages"
	Path   string
	At     time.Time
	Body   json.RawMessage // without the files
	Status int             // of HTTP; 0: the connection was cut
	Code   int             // of Discord
	Error  string          // Discord's message, or the fault that was injected
	Known  bool
}

// Interaction is what a person asked of the app, and how fast it acknowledged.
type Interaction struct {
	ID       string
	Type     int    // 1 ping, 2 command, 3 component, 4 autocomplete, 5 modal
	Name     string // of the command, or the custom_id
	User     string
	Channel  string
	Message  string // that the component belongs to
	Sent     time.Time
	Acked    time.Time
	Latency  time.Duration
	Response int    // the type of the acknowledgement
	Error    string // why it was not acknowledged
}
