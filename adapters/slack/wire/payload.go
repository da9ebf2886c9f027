package wire

import "encoding/json"

// What Slack sends, as far as it matters here. The library's own types decode
// blocks and more that differ from one client to the next, and refuse the whole
// for one part.

// callback is the outer part of an event.
type callback struct {
	EventID        string `json:"event_id"`
	Event          event  `json:"event"`
	Authorizations []struct {
		User string `json:"user_id"`
		Bot  bool   `json:"is_bot"`
	} `json:"authorizations"`
}

// kinds is the type of an event, read before the rest: other types give other
// shapes to the same names.
type kinds struct {
	Type  string `json:"type"`
	Event struct {
		Type string `json:"type"`
	} `json:"event"`
}

// event is an event of any type that is understood, and a message in it.
type event struct {
	Message
	Type        string  `json:"type"`
	Channel     string  `json:"channel"`
	ChannelType string  `json:"channel_type"`
	EventTS     string  `json:"event_ts"`
	Tab         string  `json:"tab"`
	Changed     Message `json:"message"`
	Previous    Message `json:"previous_message"`
	Deleted     string  `json:"deleted_ts"`
	Assistant   struct {
		User    string          `json:"user_id"`
		Channel string          `json:"channel_id"`
		Thread  string          `json:"thread_ts"`
		Context json.RawMessage `json:"context"`
	} `json:"assistant_thread"`
	// What the person has open beside the conversation: of a message, and of the
	// events that say nothing else.
	AppContext json.RawMessage `json:"app_context"`
	Context    json.RawMessage `json:"context"`
}

// Message is a message as it stands in events, interactions and histories.
type Message struct {
	Subtype  string `json:"subtype"`
	User     string `json:"user"`
	BotID    string `json:"bot_id"`
	Username string `json:"username"`
	Text     string `json:"text"`
	TS       string `json:"ts"`
	ThreadTS string `json:"thread_ts"`
	Edited   struct {
		User string `json:"user"`
		TS   string `json:"ts"`
	} `json:"edited"`
	Files []File `json:"files"`
}

// File is a file that came with a message.
type File struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Title    string  `json:"title"`
	Mode     string  `json:"mode"`
	Size     float64 `json:"size"` // a number of any notation
	URL      string  `json:"url_private"`
	Download string  `json:"url_private_download"`
}

// interaction is a click, a form or a shortcut.
type interaction struct {
	Type        string  `json:"type"`
	Callback    string  `json:"callback_id"`
	ResponseURL string  `json:"response_url"`
	Trigger     string  `json:"trigger_id"`
	ActionTS    string  `json:"action_ts"`
	MessageTS   string  `json:"message_ts"`
	User        named   `json:"user"`
	Channel     named   `json:"channel"`
	Message     Message `json:"message"`
	View        struct {
		ID       string `json:"id"`
		Hash     string `json:"hash"`
		Callback string `json:"callback_id"`
		Private  string `json:"private_metadata"`
		State    struct {
			Values map[string]map[string]action `json:"values"`
		} `json:"state"`
	} `json:"view"`
	Container struct {
		Channel   string `json:"channel_id"`
		Message   string `json:"message_ts"`
		Thread    string `json:"thread_ts"`
		Ephemeral bool   `json:"is_ephemeral"`
	} `json:"container"`
	Actions []action `json:"actions"`
}

type named struct {
	ID string `json:"id"`
}

// action is what was clicked, or what a field of a form holds.
type action struct {
	ActionID string   `json:"action_id"`
	BlockID  string   `json:"block_id"`
	Type     string   `json:"type"`
	Value    string   `json:"value"`
	ActionTS string   `json:"action_ts"`
	Text     label    `json:"text"`
	Option   option   `json:"selected_option"`
	Users    []string `json:"selected_users"`
}

type label struct {
	Text string `json:"text"`
}

type option struct {
	Value string `json:"value"`
}

// command is a slash command, from a socket or made of a form.
type command struct {
	Command     string `json:"command"`
	Text        string `json:"text"`
	User        string `json:"user_id"`
	Channel     string `json:"channel_id"`
	ResponseURL string `json:"response_url"`
	Trigger     string `json:"trigger_id"`
}
