package discordtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// content is what a message is made of, as the app sends it. Absent fields are nil.
type content struct {
	Content    *string         `json:"content"`
	Embeds     *[]embed        `json:"embeds"`
	Components json.RawMessage `json:"components"`
	Flags      *int            `json:"flags"`
	Nonce      json.RawMessage `json:"nonce"`
	Enforce    bool            `json:"enforce_nonce"`
	Allowed    *allowed        `json:"allowed_mentions"`
	Attached   *[]attached     `json:"attachments"`
	Reference  *struct {
		MessageID string `json:"message_id"`
		FailIfNot *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Poll json.RawMessage `json:"poll"`

	files []File
}

type attached struct {
	ID          json.RawMessage `json:"id"` // a number for a new one
	Filename    string          `json:"filename"`
	Description string          `json:"description"`
}

// embed is kept as it was sent; the fields are those that have limits.
type embed struct {
	raw         json.RawMessage
	Title       string `json:"title"`
	Description string `json:"description"`
	Footer      struct {
		Text string `json:"text"`
	} `json:"footer"`
	Author struct {
		Name string `json:"name"`
	} `json:"author"`
	Fields []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"fields"`
}

// UnmarshalJSON keeps the whole object.
func (e *embed) UnmarshalJSON(b []byte) error {
	type plain embed
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err //nolint:wrapcheck // the caller looks at its type
	}
	*e = embed(p)
	e.raw = slices.Clone(b)
	return nil
}

// nonce is a number or a string.
func (c *content) nonce() string { return strings.Trim(string(c.Nonce), `"`) }

func (c *content) flags() int {
	if c.Flags == nil {
		return 0
	}
	return *c.Flags
}

func (c *content) text() string {
	if c.Content == nil {
		return ""
	}
	return *c.Content
}

func (c *content) embeds() json.RawMessage {
	if c.Embeds == nil || len(*c.Embeds) == 0 {
		return nil
	}
	raw := make([]json.RawMessage, 0, len(*c.Embeds))
	for _, e := range *c.Embeds {
		raw = append(raw, e.raw)
	}
	return platformtest.Encode(raw)
}

// hasComponents says whether components were sent at all, perhaps an empty list.
func (c *content) hasComponents() bool {
	return len(c.Components) > 0 && !bytes.Equal(c.Components, []byte("null"))
}

// readContent decodes and checks a message; before is the one that is edited.
func readContent(s *world, c *call, body json.RawMessage, before *message) (*content, error) {
	var what content
	inner := &call{r: c.r, body: body}
	if err := inner.read(&what); err != nil {
		return nil, err
	}
	if err := takeFiles(s, c, &what); err != nil {
		return nil, err
	}
	v2 := what.flags()&FlagComponents != 0 || before != nil && before.Flags&FlagComponents != 0
	var f form
	what.checkTexts(&f)
	if v2 && s.cfg.RejectV2 {
		f.wrong("MESSAGE_FLAGS_INVALID", "This message flag is not supported here.", "flags")
	}
	if v2 && (what.text() != "" || len(what.embeds()) > 0 || len(what.Poll) > 0 && string(what.Poll) != "null") {
		f.wrong("MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'content', 'embeds' and 'poll' fields cannot be used when using MessageFlags.IS_COMPONENTS_V2", "flags")
	}
	if what.hasComponents() {
		check := &checker{form: &f, v2: v2, files: what.files, seen: map[string]bool{}}
		if before != nil {
			check.files = slices.Concat(before.Files, what.files)
		}
		what.Components = check.message(what.Components)
	}
	return &what, f.err()
}

func (c *content) checkTexts(f *form) {
	f.long(c.text(), 0, 2000, "content")
	f.long(c.nonce(), 0, 25, "nonce")
	if c.Allowed != nil {
		c.Allowed.check(f)
	}
	if c.Embeds == nil {
		return
	}
	if len(*c.Embeds) > 10 {
		f.wrong("BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.", "embeds")
	}
	total := 0
	for i, e := range *c.Embeds {
		total += e.check(f, i)
	}
	if total > 6000 {
		f.wrong("MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000", "embeds")
	}
}

// check looks at one embed and says how many characters it has.
func (e *embed) check(f *form, i int) int {
	f.long(e.Title, 0, 256, "embeds", i, "title")
	f.long(e.Description, 0, 4096, "embeds", i, "description")
	f.long(e.Footer.Text, 0, 2048, "embeds", i, "footer", "text")
	f.long(e.Author.Name, 0, 256, "embeds", i, "author", "name")
	total := length(e.Title) + length(e.Description) + length(e.Footer.Text) + length(e.Author.Name)
	if len(e.Fields) > 25 {
		f.wrong("BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.", "embeds", i, "fields")
	}
	for j, field := range e.Fields {
		f.long(field.Name, 1, 256, "embeds", i, "fields", j, "name")
		f.long(field.Value, 1, 1024, "embeds", i, "fields", j, "value")
		total += length(field.Name) + length(field.Value)
	}
	return total
}

// takeFiles turns the parts of the form into attachments.
func takeFiles(s *world, c *call, what *content) error {
	if len(c.files) > 10 {
		return no(http.StatusBadRequest, 30015, "Maximum number of attachments in a message reached (10)")
	}
	keys := make([]string, 0, len(c.files))
	for k := range c.files {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, _ := strconv.Atoi(strings.TrimPrefix(a, "file")) // other names come first
		y, _ := strconv.Atoi(strings.TrimPrefix(b, "file"))
		return x - y
	})
	for _, k := range keys {
		up := c.files[k]
		f := s.keep(up)
		if what.Attached != nil {
			for _, a := range *what.Attached {
				if strings.Trim(string(a.ID), `"`) == k {
					f.Description = a.Description
					platformtest.Default(&a.Filename, f.Name)
					f.Name = a.Filename
				}
			}
		}
		what.files = append(what.files, f)
	}
	return nil
}

// empty says whether there is nothing to see.
func (c *content) empty() bool {
	return strings.TrimSpace(c.text()) == "" && len(c.embeds()) == 0 && len(c.files) == 0 &&
		(!c.hasComponents() || string(c.Components) == "[]") && (len(c.Poll) == 0 || string(c.Poll) == "null")
}

func emptyMessage() error { return no(http.StatusBadRequest, 50006, "Cannot send an empty message") }

// allowed is what a message may ping.
type allowed struct {
	Parse   []string `json:"parse"`
	Users   []string `json:"users"`
	Roles   []string `json:"roles"`
	Replied bool     `json:"replied_user"`
}

func (a *allowed) check(f *form) {
	for i, p := range a.Parse {
		if p != "users" && p != "roles" && p != "everyone" {
			f.wrong("BASE_TYPE_CHOICES", "Value must be one of ('users', 'roles', 'everyone').", "allowed_mentions", "parse", i)
		}
	}
	if slices.Contains(a.Parse, "users") && len(a.Users) > 0 {
		f.wrong("MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[\"users\"] and users: [ids...] are mutually exclusive.", "allowed_mentions")
	}
	if slices.Contains(a.Parse, "roles") && len(a.Roles) > 0 {
		f.wrong("MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[\"roles\"] and roles: [ids...] are mutually exclusive.", "allowed_mentions")
	}
	for _, ids := range [][]string{a.Users, a.Roles} {
		if len(ids) > 100 {
			f.wrong("BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.", "allowed_mentions")
		}
	}
}

var (
	code         = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	userMention  = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention  = regexp.MustCompile(`<@&(\d+)>`)
	massMention  = regexp.MustCompile(`@(everyone|here)\b`)
	defaultParse = []string{"users", "roles", "everyone"}
)

// pings is whom a new message really pings; the lock is held.
func (s *world) pings(m *message, a *allowed) Pings {
	if a == nil {
		a = &allowed{Parse: defaultParse, Replied: true}
	}
	words := code.ReplaceAllString(m.shown(), " ")
	c := s.channel(m.Channel)
	if c == nil {
		return Pings{}
	}
	var p Pings
	for _, id := range found(userMention, words) {
		if (slices.Contains(a.Parse, "users") || slices.Contains(a.Users, id)) && s.user(id) != nil {
			p.Users = append(p.Users, id)
		}
	}
	if to := s.message(m.Channel, m.ReplyTo); to != nil && a.Replied && !slices.Contains(p.Users, to.Author) {
		p.Users = append(p.Users, to.Author)
	}
	if g := s.guild(c.Guild); g != nil {
		mass := s.may(m.Author, c, MentionEveryone)
		p.Roles = g.pinged(words, a, mass)
		p.Everyone = mass && slices.Contains(a.Parse, "everyone") && massMention.MatchString(words)
	}
	return p
}

// pinged are the roles that words notify; mass: any of them, else those that
// everybody may mention.
func (g *guild) pinged(words string, a *allowed, mass bool) (roles []string) {
	for _, id := range found(roleMention, words) {
		r := g.role(id)
		wanted := slices.Contains(a.Parse, "roles") || slices.Contains(a.Roles, id)
		if r != nil && wanted && (mass || r.Mentionable) {
			roles = append(roles, id)
		}
	}
	return roles
}

func found(re *regexp.Regexp, words string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(words, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// forBot says whether the app may read a message without the intent for it.
func (s *world) forBot(m *message) bool {
	c := s.channel(m.Channel)
	return m.Author == BotUser || c != nil && c.Type == DMChannel || slices.Contains(m.mentioned(), BotUser)
}

// readable is whether the app may read the content of a message.
func (s *world) readable(m *message, intents int) bool {
	return intents&IntentContent != 0 || s.forBot(m)
}

// plain is content with names instead of ids.
func (s *world) plain(words string) string {
	words = userMention.ReplaceAllStringFunc(words, func(m string) string {
		return "@" + s.name(strings.Trim(m, "<@!>"))
	})
	return roleMention.ReplaceAllStringFunc(words, func(m string) string {
		id := strings.Trim(m, "<@&>")
		for _, g := range s.guilds {
			if r := g.role(id); r != nil {
				return "@" + r.Name
			}
		}
		return m
	})
}

func (s *world) name(id string) string {
	u := s.user(id)
	if u == nil {
		return id
	}
	if u.GlobalName != "" {
		return u.GlobalName
	}
	return u.Name
}
