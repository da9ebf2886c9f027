package discordtest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
)

// v2 is a message of components.
func v2(c ...any) obj { return obj{"flags": FlagComponents, "components": c} }

func words(n int) obj { return obj{"type": typeText, "content": strings.Repeat("w", n)} }

func button(id, label string) obj {
	return obj{"type": typeButton, "style": 1, "custom_id": id, "label": label}
}

func buttons(n int) obj {
	var all []obj
	for i := range n {
		all = append(all, button(fmt.Sprint("b", i), "B"))
	}
	return obj{"type": typeRow, "components": all}
}

func menu(n int) obj {
	var options []obj
	for i := range n {
		options = append(options, obj{"label": "o", "value": strconv.Itoa(i)})
	}
	return obj{"type": typeRow, "components": []obj{{"type": typeSelect, "custom_id": "m", "options": options}}}
}

func times(n int, c obj) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = c
	}
	return out
}

func TestTheLimitsOfComponents(t *testing.T) {
	s := open(t, Config{Limits: Limits{Off: true}})
	d := client(t, s)
	container := func(c ...any) obj { return obj{"type": typeContainer, "components": c} }
	for name, c := range map[string]struct {
		body obj
		at   string // what the error names; empty: accepted
	}{
		"a card":                {v2(container(words(10), obj{"type": typeSeparator}, obj{"type": typeSection, "components": []obj{words(3)}, "accessory": button("x", "X")}, buttons(5))), ""},
		"40 components":         {v2(times(40, words(1))...), ""},
		"41 components":         {v2(times(41, words(1))...), "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"},
		"nested ones count":     {v2(container(times(40, words(1))...)), "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"},
		"4000 characters":       {v2(words(2000), words(2000)), ""},
		"4001 characters":       {v2(words(2000), words(2001)), "COMPONENT_MAX_TOTAL_TEXT_LENGTH_EXCEEDED"},
		"an empty text":         {v2(words(0)), "BASE_TYPE_REQUIRED"},
		"content beside":        {obj{"flags": FlagComponents, "content": "x", "components": []obj{words(1)}}, "MESSAGE_CANNOT_USE_LEGACY_FIELDS"},
		"without the flag":      {obj{"components": []obj{words(1)}}, `"components":{"0":{"type"`},
		"6 buttons":             {v2(buttons(6)), "BASE_TYPE_BAD_LENGTH"},
		"one custom id twice":   {v2(buttons(1), buttons(1)), "COMPONENT_CUSTOM_ID_DUPLICATED"},
		"a custom id of 101":    {v2(obj{"type": typeRow, "components": []obj{button(strings.Repeat("i", 101), "B")}}), `"custom_id"`},
		"a label of 81":         {v2(obj{"type": typeRow, "components": []obj{button("i", strings.Repeat("l", 81))}}), `"label"`},
		"25 options":            {v2(menu(25)), ""},
		"26 options":            {v2(menu(26)), `"options"`},
		"a section on its own":  {v2(obj{"type": typeSection, "components": []obj{words(1)}}), `"accessory"`},
		"a box in a box":        {v2(container(container(words(1)))), `"type"`},
		"a file that is absent": {v2(obj{"type": typeFile, "file": obj{"url": "attachment://a.txt"}}), "REFERENCED_FILE_NOT_FOUND"},
		"an input outside":      {v2(obj{"type": typeRow, "components": []obj{{"type": typeInput, "custom_id": "i", "style": 1, "label": "l"}}}), `"type"`},
		"a label outside":       {v2(obj{"type": typeLabel, "label": "l", "component": button("x", "X")}), `"type"`},
		"buttons of old":        {obj{"content": "x", "components": []obj{buttons(5)}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := post(d, General, c.body)
			if c.at == "" {
				ok(t, err)
				return
			}
			if body := refused(t, err, 400, 50035); !strings.Contains(body, c.at) {
				t.Fatalf("got %s, want %s", body, c.at)
			}
		})
	}
}

func TestComponentsAreRefusedInOlderPlaces(t *testing.T) {
	t.Parallel()
	s := open(t, Config{RejectV2: true})
	d := client(t, s)
	_, err := post(d, General, v2(words(1)))
	refused(t, err, 400, 50035)
	_, err = d.ChannelMessageSendEmbed(General, &discordgo.MessageEmbed{Title: "The same", Description: "in an embed"})
	ok(t, err)
	s.RejectV2(false)
	m, err := post(d, General, v2(words(1)))
	ok(t, err)
	if got, is := m.Components[0].(*discordgo.TextDisplay); !is || got.Content != "w" {
		t.Fatalf("got %+v", m.Components)
	}
	_, err = d.ChannelMessageEdit(General, m.ID, "content")
	refused(t, err, 400, 50035)
}

func TestAFileInAComponentHasAnAddress(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	d := client(t, s)
	m, err := d.ChannelMessageSendComplex(General, &discordgo.MessageSend{Flags: discordgo.MessageFlagsIsComponentsV2,
		Files:      []*discordgo.File{{Name: "a.txt", Reader: strings.NewReader("a")}},
		Components: []discordgo.MessageComponent{discordgo.FileComponent{File: discordgo.UnfurledMediaItem{URL: "attachment://a.txt"}}}})
	ok(t, err)
	if got, is := m.Components[0].(*discordgo.FileComponent); !is || !strings.HasPrefix(got.File.URL, s.URL()+"/attachments/") {
		t.Fatalf("got %+v", m.Components)
	}
}

func TestAModalHasLimits(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	d, _ := connect(t, s, plainIntents)
	deckhand(t, d)
	errs := make(chan error, 1)
	d.AddHandler(func(d *discordgo.Session, i *discordgo.InteractionCreate) {
		ask := func(title string, c ...any) error {
			_, err := d.RequestWithBucketID("POST", discordgo.EndpointInteractionResponse(i.ID, i.Token), obj{"type": 9, "data": obj{"custom_id": "f", "title": title, "components": c}}, i.ID)
			return err
		}
		field := obj{"type": typeLabel, "label": "Reason", "component": obj{"type": typeInput, "custom_id": "r", "style": 2, "required": false}}
		errs <- ask(strings.Repeat("t", 46), field)
		errs <- ask("none")
		errs <- ask("fits", words(3), field)
	})
	done := make(chan error, 1)
	go func() { done <- s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}) }()
	refused(t, <-errs, 400, 50035)
	refused(t, <-errs, 400, 50035)
	ok(t, <-errs)
	ok(t, <-done)
	f, _ := s.Modal(Ann)
	if got := s.RenderModal(f.ID); !strings.Contains(got, "Reason:") || !strings.Contains(got, "┌ fits") {
		t.Fatalf("got %s", got)
	}
}
