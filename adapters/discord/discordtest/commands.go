package discordtest

// This file serves the registration of application commands and checks their
// names, options and sizes, so that a definition Discord would refuse fails
// in tests.

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Kinds of options.
const (
	optSub        = 1
	optGroup      = 2
	optString     = 3
	optInteger    = 4
	optBoolean    = 5
	optChannel    = 7
	optNumber     = 10
	optAttachment = 11
)

// definition is a command or an option of one.
type definition struct {
	Name         string       `json:"name"`
	Description  string       `json:"description"`
	Type         int          `json:"type"`
	Required     bool         `json:"required"`
	Autocomplete bool         `json:"autocomplete"`
	ChannelTypes []int        `json:"channel_types"`
	Options      []definition `json:"options"`
	Choices      []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"choices"`
}

var letters = regexp.MustCompile(`^[-_'\p{L}\p{N}]+$`)

// named says whether a command or an option may be called so.
func named(name string) bool { return letters.MatchString(name) && utf8.RuneCountInString(name) <= 32 }

func (d *definition) check(f *form, path ...any) {
	at := func(field ...any) []any { return append(slices.Clone(path), field...) }
	if d.Type == 1 && !named(d.Name) || strings.ToLower(d.Name) != d.Name && d.Type == 1 {
		f.wrong("APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid", at("name")...)
	}
	if d.Type != 1 {
		f.long(d.Name, 1, 32, at("name")...)
		if d.Description != "" {
			f.wrong("APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION", "Context menu commands cannot have description", at("description")...)
		}
		return
	}
	f.long(d.Description, 1, 100, at("description")...)
	d.checkOptions(f, 0, path...)
	if d.size() > maxCommand {
		f.wrong("APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)", path...)
	}
}

// maxCommand is how many characters all names, descriptions and values of a
// command may have.
const maxCommand = 8000

func (d *definition) size() int {
	n := utf8.RuneCountInString(d.Name) + utf8.RuneCountInString(d.Description)
	for _, c := range d.Choices {
		var value string
		_ = json.Unmarshal(c.Value, &value) // numbers count nothing
		n += utf8.RuneCountInString(c.Name) + utf8.RuneCountInString(value)
	}
	for _, o := range d.Options {
		n += o.size()
	}
	return n
}

func (d *definition) checkOptions(f *form, depth int, path ...any) {
	at := func(field ...any) []any { return append(slices.Clone(path), field...) }
	if len(d.Options) > 25 {
		f.wrong("BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.", at("options")...)
	}
	seen, optional, subs := map[string]bool{}, false, 0
	for i, o := range d.Options {
		o.checkOption(f, at("options", i)...)
		if seen[o.Name] {
			f.wrong("APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique", at("options", i, "name")...)
		}
		seen[o.Name] = true
		if o.Type <= optGroup {
			subs++
			if depth > 1 || depth == 1 && o.Type == optGroup {
				f.wrong("APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command option types are nested too deep", at("options", i)...)
			}
			o.checkOptions(f, depth+1, at("options", i)...)
			continue
		}
		if o.Required && optional {
			f.wrong("APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options", at("options", i)...)
		}
		optional = optional || !o.Required
	}
	if subs > 0 && subs < len(d.Options) {
		f.wrong("APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command option types are mutually exclusive to all other types", at("options")...)
	}
}

func (d *definition) checkOption(f *form, path ...any) {
	at := func(field ...any) []any { return append(slices.Clone(path), field...) }
	if !named(d.Name) || strings.ToLower(d.Name) != d.Name {
		f.wrong("STRING_TYPE_REGEX", "String value did not match validation regex.", at("name")...)
	}
	f.long(d.Description, 1, 100, at("description")...)
	if d.Type < optSub || d.Type > optAttachment {
		f.wrong("BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11).", at("type")...)
	}
	if len(d.Choices) > 25 {
		f.wrong("BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.", at("choices")...)
	}
	if d.Autocomplete && len(d.Choices) > 0 {
		f.wrong("APPLICATION_COMMAND_AUTOCOMPLETE_WITH_CHOICES", "Autocomplete and choices are mutually exclusive", at("autocomplete")...)
	}
	for i, c := range d.Choices {
		f.long(c.Name, 1, 100, at("choices", i, "name")...)
	}
}

// scope is where commands are registered: a guild, or "" for everywhere.
func scope(s *world, c *call) (string, error) {
	if c.path("app") != App {
		return "", no(http.StatusForbidden, 20012, "You are not authorized to perform this action on this application")
	}
	id := c.path("guild")
	if g := s.guild(id); id != "" && (g == nil || !g.botIn) {
		return "", missingAccess()
	}
	return id, nil
}

func listCommands(s *world, c *call) (any, error) {
	where, err := scope(s, c)
	if err != nil {
		return nil, err
	}
	return commandsIn(s, where), nil
}

func commandsIn(s *world, where string) []json.RawMessage {
	out := []json.RawMessage{}
	for _, cmd := range s.commands {
		if cmd.Guild == where {
			out = append(out, cmd.Raw)
		}
	}
	return out
}

// putCommands replaces all commands; one that keeps its name keeps its id.
func putCommands(s *world, c *call) (any, error) {
	where, err := scope(s, c)
	if err != nil {
		return nil, err
	}
	var bodies []json.RawMessage
	if err := c.read(&bodies); err != nil {
		return nil, err
	}
	var f form
	var next []*Command
	slash := 0
	for i, b := range bodies {
		cmd, err := readCommand(s, b, where, &f, i)
		if err != nil {
			return nil, err
		}
		if cmd.Type == 1 {
			slash++
		}
		next = append(next, cmd)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	if slash > 100 || len(next)-slash > 30 {
		return nil, no(http.StatusBadRequest, 30032, "Maximum number of application commands reached")
	}
	s.commands = slices.DeleteFunc(s.commands, func(o *Command) bool { return o.Guild == where })
	s.commands = append(s.commands, next...)
	s.Change()
	return commandsIn(s, where), nil
}

// readCommand checks one command and gives it the id it had.
func readCommand(s *world, body json.RawMessage, where string, f *form, path ...any) (*Command, error) {
	var d definition
	inner := &call{body: body}
	if err := inner.read(&d); err != nil {
		return nil, err
	}
	platformtest.Default(&d.Type, 1)
	d.check(f, path...)
	id := ""
	for _, o := range s.commands {
		if o.Guild == where && o.Name == d.Name && o.Type == d.Type {
			id = o.ID
		}
	}
	if id == "" {
		id = s.id()
	}
	var whole obj
	_ = json.Unmarshal(body, &whole) // it was decoded above
	whole["id"], whole["application_id"], whole["version"], whole["type"] = id, App, s.id(), d.Type
	platformtest.Put(whole, "guild_id", where)
	return &Command{ID: id, Guild: where, Name: d.Name, Description: d.Description, Type: d.Type, Raw: platformtest.Encode(whole)}, nil
}

func postCommand(s *world, c *call) (any, error) {
	where, err := scope(s, c)
	if err != nil {
		return nil, err
	}
	var f form
	cmd, err := readCommand(s, c.body, where, &f)
	if err == nil {
		err = f.err()
	}
	if err != nil {
		return nil, err
	}
	s.commands = slices.DeleteFunc(s.commands, func(o *Command) bool { return o.ID == cmd.ID })
	s.commands = append(s.commands, cmd)
	s.Change()
	return created{cmd.Raw}, nil
}

func command(s *world, c *call) (*Command, error) {
	where, err := scope(s, c)
	if err != nil {
		return nil, err
	}
	for _, cmd := range s.commands {
		if cmd.Guild == where && cmd.ID == c.path("command") {
			return cmd, nil
		}
	}
	return nil, no(http.StatusNotFound, 10063, "Unknown application command")
}

func getCommand(s *world, c *call) (any, error) {
	cmd, err := command(s, c)
	if err != nil {
		return nil, err
	}
	return cmd.Raw, nil
}

func patchCommand(s *world, c *call) (any, error) {
	cmd, err := command(s, c)
	if err != nil {
		return nil, err
	}
	var whole, change obj
	_ = json.Unmarshal(cmd.Raw, &whole) // it was encoded here
	if err := c.read(&change); err != nil {
		return nil, err
	}
	maps.Copy(whole, change)
	var f form
	next, err := readCommand(s, platformtest.Encode(whole), cmd.Guild, &f)
	if err == nil {
		err = f.err()
	}
	if err != nil {
		return nil, err
	}
	next.ID = cmd.ID
	_ = json.Unmarshal(next.Raw, &whole)
	whole["id"] = cmd.ID
	next.Raw = platformtest.Encode(whole)
	*cmd = *next
	s.Change()
	return cmd.Raw, nil
}

func dropCommand(s *world, c *call) (any, error) {
	cmd, err := command(s, c)
	if err != nil {
		return nil, err
	}
	s.commands = slices.DeleteFunc(s.commands, func(o *Command) bool { return o == cmd })
	s.Change()
	return nothing{}, nil
}

// known finds a registered command as a person in a guild sees it.
func known(s *world, name string, kind int, guild string) (*Command, definition, error) {
	var words []string
	for _, where := range []string{guild, ""} {
		for _, cmd := range s.commands {
			if cmd.Guild != where || cmd.Type != kind {
				continue
			}
			words = append(words, cmd.Name)
			if cmd.Name == name {
				var d definition
				_ = json.Unmarshal(cmd.Raw, &d) // it was checked when it was registered
				return cmd, d, nil
			}
		}
	}
	return nil, definition{}, fmt.Errorf("discordtest: the app has no command %q here, only %q", name, words)
}
