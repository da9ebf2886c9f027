package discordtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	return encode(raw)
}

// hasComponents says whether components were sent at all, perhaps an empty list.
func (c *content) hasComponents() bool {
	return len(c.Components) > 0 && !bytes.Equal(c.Components, []byte("null"))
}

// readContent decodes and checks a message; before is the one that is edited.
func (s *Server) readContent(c *call, body json.RawMessage, before *message) (*content, error) {
	var what content
	inner := &call{r: c.r, body: body}
	if err := inner.read(&what); err != nil {
		return nil, err
	}
	if err := s.takeFiles(c, &what); err != nil {
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
func (s *Server) takeFiles(c *call, what *content) error {
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
					def(&a.Filename, f.Name)
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
