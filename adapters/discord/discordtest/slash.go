package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Slash gives a registered slash command, such as "deckhand run", with its
// options. It returns when the app has acknowledged; otherwise it returns
// ErrNotAnswered.
func (s *Server) Slash(user, channel, command string, options Options, files ...Upload) error {
	s.mu.Lock()
	i, err := s.compose(user, channel, askCommand, command, options, "", files)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.ask(i)
}

// Autocomplete types into one option of a slash command and returns what the
// app suggests.
func (s *Server) Autocomplete(user, channel, command string, options Options, focused string) ([]Choice, error) {
	s.mu.Lock()
	i, err := s.compose(user, channel, askAutocomplete, command, options, focused, nil)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := s.ask(i); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return i.choices, nil
}

// MessageCommand uses a command of the context menu of a message.
func (s *Server) MessageCommand(user, channel, id, command string) error {
	s.mu.Lock()
	m := s.message(channel, id)
	if m == nil {
		s.mu.Unlock()
		return fmt.Errorf("discordtest: no message %s in %s", id, channel)
	}
	cmd, _, err := s.known(command, 3, s.guildOf(channel))
	var i *interaction
	if err == nil {
		i, err = s.interaction(askCommand, user, channel, obj{
			"id": cmd.ID, "name": command, "type": 3, "target_id": id, "resolved": obj{"messages": obj{id: s.messageJSON(m, true)}},
		})
	}
	if err != nil {
		s.mu.Unlock()
		return err
	}
	i.Name = command
	s.mu.Unlock()
	return s.ask(i)
}

func (s *Server) guildOf(channel string) string {
	if c := s.channel(channel); c != nil {
		return c.Guild
	}
	return ""
}

// compose is a slash command as it is typed; the lock is held.
func (s *Server) compose(user, channel string, kind int, command string, options Options, focused string, files []Upload) (*interaction, error) {
	words := strings.Fields(strings.TrimPrefix(command, "/"))
	if len(words) == 0 {
		return nil, fmt.Errorf("discordtest: %q is no command", command)
	}
	if c := s.channel(channel); c != nil && !s.may(user, c, UseCommands) {
		return nil, fmt.Errorf("discordtest: %s may not use commands in %s", user, channel)
	}
	cmd, d, err := s.known(words[0], 1, s.guildOf(channel))
	if err != nil {
		return nil, err
	}
	t := &typist{s: s, options: options, focused: focused, strict: kind == askCommand, files: files, used: map[string]bool{}, attachments: obj{}}
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
	put(data, "guild_id", cmd.Guild)
	i, err := s.interaction(kind, user, channel, data)
	if err != nil {
		return nil, err
	}
	i.Name = strings.Join(words, " ")
	return i, nil
}

// typist turns words into typed options.
type typist struct {
	s           *Server
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
	for _, c := range o.Choices {
		var text string
		if json.Unmarshal(c.Value, &text) != nil {
			text = string(c.Value)
		}
		if c.Name == word || text == word {
			return c.Value, nil
		}
	}
	if len(o.Choices) > 0 {
		return nil, fmt.Errorf("option %q has no choice %q", o.Name, word)
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
