package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
)

// serve answers every interaction with what the function says, nil for nothing.
func serve(t *testing.T, s *Server, d *discordgo.Session, answer func(*discordgo.Interaction) *discordgo.InteractionResponse) {
	t.Helper()
	d.AddHandler(func(d *discordgo.Session, i *discordgo.InteractionCreate) {
		if a := answer(i.Interaction); a != nil {
			if err := d.InteractionRespond(i.Interaction, a); err != nil {
				t.Errorf("answering: %v", err)
			}
		}
	})
}

// app is a session that answers with the answers in their order, and the
// interactions that it got.
func app(t *testing.T, s *Server, answers ...*discordgo.InteractionResponse) (*discordgo.Session, <-chan *discordgo.Interaction) {
	t.Helper()
	d, _ := connect(t, s, plainIntents)
	deckhand(t, d)
	got := make(chan *discordgo.Interaction, 16)
	serve(t, s, d, func(i *discordgo.Interaction) *discordgo.InteractionResponse {
		got <- i
		if len(answers) == 0 {
			return nil
		}
		a := answers[0]
		answers = answers[1:]
		return a
	})
	return d, got
}

func row(c ...discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: c}}
}

func say(words string, flags discordgo.MessageFlags) *discordgo.InteractionResponse {
	return &discordgo.InteractionResponse{Type: 4, Data: &discordgo.InteractionResponseData{Content: words, Flags: flags}}
}

func TestASlashCommand(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	d, got := app(t, s, &discordgo.InteractionResponse{Type: 5})
	file := Upload{Name: "notes.txt", Data: []byte("notes")}
	ok(t, s.Slash(Ann, General, "deckhand run", Options{"goal": "tidy up", "budget": "2.5", "approver": Ben, "file": "notes.txt"}, file))
	i := <-got
	run := i.ApplicationCommandData().Options[0]
	if i.Member.User.ID != Ann || i.GuildID != Guild || run.Name != "run" || run.GetOption("goal").StringValue() != "tidy up" || run.GetOption("budget").FloatValue() != 2.5 {
		t.Fatalf("got %+v", i)
	}
	data := i.ApplicationCommandData().Resolved
	if data.Users[Ben].GlobalName != "Ben" || len(data.Attachments) != 1 {
		t.Fatalf("resolved %+v", data)
	}
	for _, a := range data.Attachments {
		resp, err := d.Client.Get(a.URL)
		ok(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("the attachment: %s", resp.Status)
		}
	}
	loading := s.FromBot()
	if len(loading) != 1 || loading[0].Flags&FlagLoading == 0 || loading[0].Type != CommandMessage {
		t.Fatalf("got %+v", loading)
	}
	words := "Started <@" + Ann + ">"
	_, err := d.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &words})
	ok(t, err)
	if m := s.FromBot()[0]; m.Content != words || m.Flags&FlagLoading != 0 || len(m.Edits) != 0 {
		t.Fatalf("got %+v", m)
	}
	_, err = d.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "for you", Flags: discordgo.MessageFlagsEphemeral})
	ok(t, err)
	if e := s.Ephemerals(Ann); len(e) != 1 || e[0].Content != "for you" || len(s.FromBot()) != 1 {
		t.Fatalf("got %+v", e)
	}
	log := s.Interactions()
	if len(log) != 1 || log[0].Name != "deckhand run" || log[0].Latency <= 0 || log[0].Latency > time.Second || log[0].Response != 5 {
		t.Fatalf("log %+v", log)
	}
	if cmds := s.Commands(Guild); len(cmds) != 2 || cmds[1].Type != 3 {
		t.Fatalf("commands %+v", cmds)
	}
}

func TestWhatCannotBeTyped(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	deckhand(t, client(t, s))
	for name, err := range map[string]error{
		"no such command":  s.Slash(Ann, General, "other", nil),
		"no subcommand":    s.Slash(Ann, General, "deckhand", nil),
		"required":         s.Slash(Ann, General, "deckhand run", nil),
		"unknown option":   s.Slash(Ann, General, "deckhand run", Options{"goal": "x", "colour": "red"}),
		"not a number":     s.Slash(Ann, General, "deckhand run", Options{"goal": "x", "budget": "much"}),
		"a guild she left": s.Slash(Eve, General, "deckhand run", Options{"goal": "x"}),
		"another guild":    s.Slash(Ann, Elsewhere, "deckhand run", Options{"goal": "x"}),
	} {
		if err == nil || errors.Is(err, ErrNotAnswered) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAnInteractionIsAnsweredOnceAndInTime(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{AckWithin: 100 * time.Millisecond})
	d, got := app(t, s)
	if err := s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}); !errors.Is(err, ErrNotAnswered) {
		t.Fatalf("got %v", err)
	}
	i := <-got
	refused(t, d.InteractionRespond(i, say("late", 0)), 404, 10062)
	_, err := d.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "later still"})
	refused(t, err, 404, 10015)
	if log := s.Interactions(); log[0].Error == "" {
		t.Fatalf("log %+v", log)
	}
}

func TestASecondAnswerAndADeadToken(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{TokenLife: time.Nanosecond})
	d, got := app(t, s, say("first", 0))
	ok(t, s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}))
	i := <-got
	refused(t, d.InteractionRespond(i, say("second", 0)), 400, 40060)
	_, err := d.InteractionResponse(i)
	refused(t, err, 401, 50027)
}

func TestButtonsMenusAndForms(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	form := &discordgo.InteractionResponse{Type: 9, Data: &discordgo.InteractionResponseData{CustomID: "why", Title: "Why not?", Components: row(
		discordgo.TextInput{CustomID: "reason", Label: "Reason", Style: discordgo.TextInputParagraph, Required: true, MinLength: 3})}}
	update := &discordgo.InteractionResponse{Type: 7, Data: &discordgo.InteractionResponseData{Content: "Denied by Ben", Components: []discordgo.MessageComponent{}}}
	d, got := app(t, s, &discordgo.InteractionResponse{Type: 6}, say("noted", discordgo.MessageFlagsEphemeral), form, update)
	m, err := d.ChannelMessageSendComplex(General, &discordgo.MessageSend{Content: "May I?", Components: append(
		row(discordgo.Button{Label: "✅ Approve", CustomID: "a"}, discordgo.Button{Label: "Deny", Style: 4, CustomID: "d"}, discordgo.Button{Label: "Gone", CustomID: "g", Disabled: true}),
		row(discordgo.SelectMenu{CustomID: "pick", Placeholder: "Pick", Options: []discordgo.SelectMenuOption{{Label: "Red", Value: "r"}, {Label: "Blue", Value: "b"}}})...)})
	ok(t, err)
	if m, _ := s.Message(General, m.ID); !slices.Equal(m.Buttons(), []string{"✅ Approve", "Deny"}) {
		t.Fatalf("buttons %q", m.Buttons())
	}
	ok(t, s.Click(Ann, General, m.ID, "Approve"))
	if i := <-got; i.MessageComponentData().CustomID != "a" || i.Message.ID != m.ID || i.Message.Content != "May I?" {
		t.Fatalf("got %+v", i)
	}
	for _, want := range []string{"Gone", "Nothing"} {
		if err := s.Click(Ann, General, m.ID, want); err == nil || errors.Is(err, ErrNotAnswered) {
			t.Fatalf("%s: %v", want, err)
		}
	}
	ok(t, s.Select(Ann, General, m.ID, "pick", "Blue"))
	if i := <-got; !slices.Equal(i.MessageComponentData().Values, []string{"b"}) {
		t.Fatalf("got %+v", i.Data)
	}
	if e := s.Ephemerals(Ann); len(e) != 1 || e[0].Text() != "noted" {
		t.Fatalf("got %+v", e)
	}
	ok(t, s.Click(Ben, General, m.ID, "Deny"))
	<-got
	f, up := s.Modal(Ben)
	if !up || f.Title != "Why not?" || !slices.Equal(f.Fields(), []string{"reason"}) {
		t.Fatalf("form %+v", f)
	}
	for _, bad := range []map[string]string{{}, {"reason": "no"}, {"reason": "because", "more": "x"}} {
		if err := s.Submit(f.ID, Ben, bad); err == nil || errors.Is(err, ErrNotAnswered) {
			t.Fatalf("%v: %v", bad, err)
		}
	}
	ok(t, s.Submit(f.ID, Ben, map[string]string{"Reason": "because"}))
	sent := (<-got).ModalSubmitData().Components
	filled, is := sent[0].(*discordgo.ActionsRow)
	if !is {
		t.Fatalf("got %+v", sent)
	}
	if input, is := filled.Components[0].(*discordgo.TextInput); !is || input.CustomID != "reason" || input.Value != "because" {
		t.Fatalf("got %+v", filled)
	}
	if m, _ := s.Message(General, m.ID); m.Content != "Denied by Ben" || len(m.Buttons()) != 0 || len(m.Edits) != 1 {
		t.Fatalf("got %+v", m)
	}
	if _, up := s.Modal(Ben); up {
		t.Fatal("the form is still open")
	}
}

func TestAutocompleteAndMessageCommands(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	suggest := &discordgo.InteractionResponse{Type: 8, Data: &discordgo.InteractionResponseData{Choices: []*discordgo.ApplicationCommandOptionChoice{{Name: "tidy up", Value: "run-1"}}}}
	_, got := app(t, s, suggest, say("on it", 0))
	choices, err := s.Autocomplete(Ann, General, "deckhand stop", Options{"run": "ti"}, "run")
	ok(t, err)
	if len(choices) != 1 || choices[0] != (Choice{"tidy up", "run-1"}) {
		t.Fatalf("got %+v", choices)
	}
	if o := (<-got).ApplicationCommandData().Options[0].Options[0]; !o.Focused || o.StringValue() != "ti" {
		t.Fatalf("got %+v", o)
	}
	id := s.Say(Ann, General, "please tidy up")
	ok(t, s.MessageCommand(Ann, General, id, "Make this a goal"))
	data := (<-got).ApplicationCommandData()
	if data.TargetID != id || data.Resolved.Messages[id].Content != "please tidy up" {
		t.Fatalf("got %+v", data)
	}
}

func TestTwoReplicasAndOneAnswer(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	results := make(chan error, 2)
	for range 2 {
		d, _ := connect(t, s, plainIntents)
		deckhand(t, d)
		d.AddHandler(func(d *discordgo.Session, i *discordgo.InteractionCreate) {
			results <- d.InteractionRespond(i.Interaction, say("me", 0))
		})
	}
	ok(t, s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}))
	one, two := <-results, <-results
	if one == nil {
		one, two = two, one
	}
	ok(t, two)
	refused(t, one, 400, 40060)
	if got := len(s.FromBot()); got != 1 {
		t.Fatalf("%d answers", got)
	}
}

func TestAnAnswerWithAFileAndADirectMessage(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{})
	a := say("see", 0)
	a.Data.Files = []*discordgo.File{{Name: "a.txt", Reader: strings.NewReader("a")}}
	d, got := app(t, s, a, say("hello", 0))
	ok(t, s.Slash(Ann, General, "deckhand run", Options{"goal": "x"}))
	<-got
	if m := s.FromBot()[0]; len(m.Files) != 1 || !bytes.Equal(m.Files[0].Data, []byte("a")) {
		t.Fatalf("got %+v", m.Files)
	}
	_, err := d.ApplicationCommandBulkOverwrite(App, "", []*discordgo.ApplicationCommand{{Name: "hello", Description: "Say hello"}})
	ok(t, err)
	ok(t, s.Slash(Ann, s.DMChannel(Ann), "/hello", nil))
	if i := <-got; i.User == nil || i.User.ID != Ann || i.Member != nil || i.GuildID != "" {
		t.Fatalf("got %+v", i)
	}
}

func TestCommandsThatDiscordRefuses(t *testing.T) {
	s := open(t, Config{Limits: Limits{Off: true}})
	d := client(t, s)
	for name, c := range map[string]*discordgo.ApplicationCommand{
		"a name with a blank":  {Name: "deck hand", Description: "x"},
		"capitals":             {Name: "Deckhand", Description: "x"},
		"no description":       {Name: "deckhand"},
		"required after other": {Name: "deckhand", Description: "x", Options: []*discordgo.ApplicationCommandOption{{Type: 3, Name: "a", Description: "a"}, {Type: 3, Name: "b", Description: "b", Required: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.ApplicationCommandCreate(App, Guild, c)
			refused(t, err, 400, 50035)
		})
	}
	made, err := d.ApplicationCommandCreate(App, Guild, &discordgo.ApplicationCommand{Name: "deckhand", Description: "x"})
	ok(t, err)
	deckhand(t, d)
	list, err := d.ApplicationCommands(App, Guild)
	ok(t, err)
	if len(list) != 2 || list[0].ID != made.ID {
		t.Fatalf("an overwrite gave the command another id: %+v", list)
	}
	ok(t, d.ApplicationCommandDelete(App, Guild, made.ID))
	refused(t, d.ApplicationCommandDelete(App, Guild, made.ID), 404, 10063)
}

func TestCommandsAreNotTooLarge(t *testing.T) {
	t.Parallel()
	var list []definition
	for i := range 24 {
		o := definition{Name: fmt.Sprintf("option%d", i), Description: strings.Repeat("x", 100), Type: optString}
		for range 25 {
			o.Choices = append(o.Choices, struct {
				Name  string          `json:"name"`
				Value json.RawMessage `json:"value"`
			}{"abcde", json.RawMessage(`"abcdefgh"`)})
		}
		list = append(list, o)
	}
	for n, large := range map[int]bool{16: false, 20: true} { // an option has some 430 characters
		var f form
		d := definition{Name: "x", Description: "x", Type: 1, Options: list[:n]}
		d.check(&f)
		if (f.err() != nil) != large {
			t.Errorf("%d options, %d characters: %v", n, d.size(), f.err())
		}
	}
}
