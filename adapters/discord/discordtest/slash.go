package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Slash gives a registered slash command, such as "deckhand run", with its
// options. It returns when the app has acknowledged; otherwise it returns
// ErrNotAnswered.
func (s People) Slash(user, channel, command string, options Options, files ...Upload) error {
	s.Mu.Lock()
	i, err := s.compose(user, channel, askCommand, command, options, "", files)
	s.Mu.Unlock()
	if err != nil {
		return err
	}
	return s.events.ask(i)
}

// Autocomplete types into one option of a slash command and returns what the
// app suggests.
func (s People) Autocomplete(user, channel, command string, options Options, focused string) ([]Choice, error) {
	s.Mu.Lock()
	i, err := s.compose(user, channel, askAutocomplete, command, options, focused, nil)
	s.Mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := s.events.ask(i); err != nil {
		return nil, err
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return i.choices, nil
}

// MessageCommand uses a command of the context menu of a message.
func (s People) MessageCommand(user, channel, id, command string) error {
	s.Mu.Lock()
	m := s.message(channel, id)
	if m == nil {
		s.Mu.Unlock()
		return fmt.Errorf("discordtest: no message %s in %s", id, channel)
	}
	cmd, _, err := known(s.world, command, 3, s.guildOf(channel))
	var i *interaction
	if err == nil {
		i, err = s.events.interaction(askCommand, user, channel, obj{
			"id": cmd.ID, "name": command, "type": 3, "target_id": id, "resolved": obj{"messages": obj{id: s.messageJSON(m, true)}},
		})
	}
	if err != nil {
		s.Mu.Unlock()
		return err
	}
	i.Name = command
	s.Mu.Unlock()
	return s.events.ask(i)
}

func (s People) guildOf(channel string) string {
	if c := s.channel(channel); c != nil {
		return c.Guild
	}
	return ""
}

// compose is a slash command as it is typed; the lock is held.
func (s People) compose(user, channel string, kind int, command string, options Options, focused string, files []Upload) (*interaction, error) {
	words := strings.Fields(strings.TrimPrefix(command, "/"))
	if len(words) == 0 {
		return nil, fmt.Errorf("discordtest: %q is no command", command)
	}
	if c := s.channel(channel); c != nil && !s.may(user, c, UseCommands) {
		return nil, fmt.Errorf("discordtest: %s may not use commands in %s", user, channel)
	}
	cmd, d, err := known(s.world, words[0], 1, s.guildOf(channel))
	if err != nil {
		return nil, err
	}
	t := &typist{s: s.world, options: options, focused: focused, strict: kind == askCommand, files: files, used: map[string]bool{}, attachments: obj{}}
	given, err := t.down(d, words[1:])
	if err != nil {
		return nil, fmt.Errorf("discordtest: /%s: %w", strings.Join(words, " "), err)
	}
	for name := range options {
		if !t.used[name] {
			return nil, fmt.Errorf("discordtest: /%s has no option %q", strings.Join(words, " "), name)
		}
	}
	data := obj{"id": cmd.ID, "name": cmd.Name, "type": 1, "options": given}
	resolved := s.resolved(t.ids)
	resolved["attachments"] = t.attachments
	maps.DeleteFunc(resolved, func(_ string, v any) bool { o, ok := v.(obj); return ok && len(o) == 0 })
	if len(resolved) > 0 {
		data["resolved"] = resolved
	}
	platformtest.Put(data, "guild_id", cmd.Guild)
	i, err := s.events.interaction(kind, user, channel, data)
	if err != nil {
		return nil, err
	}
	i.Name = strings.Join(words, " ")
	return i, nil
}

// typist turns words into typed options.
type typist struct {
	s           *world
	options     Options
	focused     string
	strict      bool // everything required must be there
	files       []Upload
	used        map[string]bool
	ids         []string
	attachments obj
}

// down goes into subcommands.
func (t *typist) down(d definition, words []string) ([]obj, error) {
	subs := len(d.Options) > 0 && d.Options[0].Type <= optGroup
	switch {
	case len(words) == 0 && subs:
		return nil, fmt.Errorf("a subcommand is needed: %q", names(d.Options))
	case len(words) > 0 && !subs:
		return nil, fmt.Errorf("there is no subcommand %q", words[0])
	case len(words) == 0:
		return t.values(d.Options)
	}
	at := slices.IndexFunc(d.Options, func(o definition) bool { return o.Name == words[0] })
	if at < 0 {
		return nil, fmt.Errorf("there is no subcommand %q, only %q", words[0], names(d.Options))
	}
	o := d.Options[at]
	inner, err := t.down(o, words[1:])
	if err != nil {
		return nil, err
	}
	return []obj{{"name": o.Name, "type": o.Type, "options": inner}}, nil
}

func names(options []definition) []string {
	out := make([]string, 0, len(options))
	for _, o := range options {
		out = append(out, o.Name)
	}
	return out
}

func (t *typist) values(options []definition) ([]obj, error) {
	out := []obj{}
	for _, o := range options {
		word, given := t.options[o.Name]
		t.used[o.Name] = true
		if !given && o.Name != t.focused {
			if o.Required && t.strict {
				return nil, fmt.Errorf("option %q is required", o.Name)
			}
			continue
		}
		if o.Name == t.focused {
			if !o.Autocomplete {
				return nil, fmt.Errorf("option %q has no autocompletion", o.Name)
			}
			out = append(out, obj{"name": o.Name, "type": o.Type, "value": word, "focused": true})
			continue
		}
		value, err := t.value(o, word)
		if err != nil {
			return nil, err
		}
		out = append(out, obj{"name": o.Name, "type": o.Type, "value": value})
	}
	return out, nil
}

func (t *typist) value(o definition, word string) (any, error) {
	if len(o.Choices) > 0 {
		return chosen(o, word)
	}
	switch o.Type {
	case optString:
		return word, nil
	case optInteger:
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("option %q takes a whole number: %w", o.Name, err)
		}
		return n, nil
	case optNumber:
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, fmt.Errorf("option %q takes a number: %w", o.Name, err)
		}
		return n, nil
	case optBoolean:
		b, err := strconv.ParseBool(word)
		if err != nil {
			return nil, fmt.Errorf("option %q takes true or false: %w", o.Name, err)
		}
		return b, nil
	case optAttachment:
		return t.attachment(o, word)
	case optChannel:
		c := t.s.channel(word)
		if c == nil || len(o.ChannelTypes) > 0 && !slices.Contains(o.ChannelTypes, c.Type) {
			return nil, fmt.Errorf("option %q takes no channel %q", o.Name, word)
		}
		fallthrough
	default:
		t.ids = append(t.ids, word)
		return word, nil
	}
}

// chosen is the value of one of the option's choices.
func chosen(o definition, word string) (any, error) {
	for _, c := range o.Choices {
		var text string
		if json.Unmarshal(c.Value, &text) != nil {
			text = string(c.Value)
		}
		if c.Name == word || text == word {
			return c.Value, nil
		}
	}
	return nil, fmt.Errorf("option %q has no choice %q", o.Name, word)
}

// attachment is a file that came with the command; it belongs to no
// message and can be downloaded.
func (t *typist) attachment(o definition, name string) (any, error) {
	for _, up := range t.files {
		if up.Name != name {
			continue
		}
		f := t.s.keep(up)
		m := &message{Message: Message{Channel: "0", ID: f.ID, Files: []File{f}}}
		t.s.loose = append(t.s.loose, m)
		t.attachments[f.ID] = t.s.fileJSON(m, f)
		return f.ID, nil
	}
	return nil, fmt.Errorf("option %q names a file %q that is not attached", o.Name, name)
}

// Submit fills a form in and sends it. The values go by custom_id or label; a
// value of several picks is divided by commas. What is not given keeps what
// stands there. As in Discord, a required field that is empty cannot be sent,
// and the form stays open when the app does not respond.
func (s People) Submit(id, user string, values map[string]string) error {
	s.Mu.Lock()
	m := openModal(s.world, id, user)
	if m == nil {
		s.Mu.Unlock()
		return fmt.Errorf("discordtest: %s has no form %s open", user, id)
	}
	filled, err := s.filled(m, values)
	var i *interaction
	if err == nil {
		i, err = s.events.interaction(askModal, user, m.Channel, obj{"custom_id": m.CustomID, "components": filled})
	}
	if err != nil {
		s.Mu.Unlock()
		return fmt.Errorf("discordtest: form %q: %w", m.Title, err)
	}
	i.Name = m.CustomID
	s.events.about(i, m.from.from)
	s.Mu.Unlock()
	if err := s.events.ask(i); err != nil {
		return err
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m.Open = false
	s.Change()
	return nil
}

func openModal(s *world, id, user string) *modal {
	for _, m := range s.modals {
		if m.ID == id && m.User == user && m.Open {
			return m
		}
	}
	return nil
}

// filled are the components of a form with what was typed into them.
func (s People) filled(m *modal, values map[string]string) ([]obj, error) {
	var all []obj
	_ = json.Unmarshal(m.Components, &all) // checked when it was opened
	used := map[string]bool{}
	out := []obj{}
	for _, top := range all {
		shell := obj{"type": top["type"], "id": top["id"]}
		switch number(top, "type") {
		case typeRow:
			var row []obj
			for _, c := range objects(top, "components") {
				now, err := s.typedIn(c, text(c, "label"), values, used)
				if err != nil {
					return nil, err
				}
				row = append(row, now)
			}
			shell["components"] = row
		case typeLabel:
			c, _ := top["component"].(obj) // checked when it was opened
			now, err := s.typedIn(c, text(top, "label"), values, used)
			if err != nil {
				return nil, err
			}
			shell["component"] = now
		}
		out = append(out, shell)
	}
	for k := range values {
		if !used[k] {
			return nil, fmt.Errorf("there is no field %q", k)
		}
	}
	return out, nil
}

func (s People) typedIn(c obj, label string, values map[string]string, used map[string]bool) (obj, error) {
	id := text(c, "custom_id")
	out := obj{"type": c["type"], "id": c["id"], "custom_id": id}
	word, given := values[id]
	used[id] = true
	if !given {
		word, given = values[label]
		used[label] = true
	}
	if isSelect(number(c, "type")) {
		picks := []string{}
		if given && word != "" {
			picks = strings.Split(word, ",")
		}
		if len(picks) == 0 && c["required"] == false {
			out["values"] = picks
			return out, nil
		}
		got, err := picked(c, picks)
		out["values"] = got
		return out, err
	}
	if !given {
		word = text(c, "value")
	}
	most := number(c, "max_length")
	platformtest.Default(&most, 4000)
	switch {
	case word == "" && c["required"] != false:
		return nil, fmt.Errorf("%q is required", id)
	case word != "" && length(word) < number(c, "min_length"), length(word) > most:
		return nil, fmt.Errorf("%q takes %d to %d characters, not %d", id, number(c, "min_length"), most, length(word))
	}
	out["value"] = word
	return out, nil
}

// Fields are the custom ids of a form's fields in their order.
func (m Modal) Fields() []string { return ids(m.Components) }

// CustomIDs are the custom ids of a message's buttons and menus in their order.
func (m Message) CustomIDs() []string { return ids(m.Components) }

func ids(raw json.RawMessage) []string {
	var out []string
	walk(raw, func(c obj) {
		if id := text(c, "custom_id"); id != "" {
			out = append(out, id)
		}
	})
	return out
}

// Buttons are the labels of a message's buttons that can be pressed, in their order.
func (m Message) Buttons() []string {
	var out []string
	walk(m.Components, func(c obj) {
		if number(c, "type") == typeButton && text(c, "custom_id") != "" && !flag(c, "disabled") {
			out = append(out, text(c, "label"))
		}
	})
	return out
}

// Text is all that a message says: content, text displays and embeds.
func (m Message) Text() string {
	parts := []string{}
	if m.Content != "" {
		parts = append(parts, m.Content)
	}
	walk(m.Components, func(c obj) {
		if number(c, "type") == typeText {
			parts = append(parts, text(c, "content"))
		}
	})
	var embeds []embed
	_ = json.Unmarshal(list(m.Embeds), &embeds) // checked when it was posted
	for _, e := range embeds {
		parts = append(parts, e.lines()...)
	}
	return strings.Join(parts, "\n")
}

func (e *embed) lines() []string {
	var out []string
	for _, line := range []string{e.Author.Name, e.Title, e.Description} {
		if line != "" {
			out = append(out, line)
		}
	}
	for _, f := range e.Fields {
		out = append(out, f.Name+": "+f.Value)
	}
	if e.Footer.Text != "" {
		out = append(out, e.Footer.Text)
	}
	return out
}
