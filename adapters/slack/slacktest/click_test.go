package slacktest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
)

func plainObject(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, text, true, false)
}

func buttons(words ...string) slack.MsgOption {
	var all []slack.BlockElement
	for _, w := range words {
		all = append(all, slack.NewButtonBlockElement("do_"+strings.ToLower(w), "opaque-"+w, plainObject("✅ "+w)))
	}
	good := slack.NewFeedbackButton(plainObject("Good"), "positive")
	bad := slack.NewFeedbackButton(plainObject("Bad"), "negative")
	return slack.MsgOptionBlocks(
		slack.NewActionBlock("choice", all...),
		slack.NewContextActionsBlock("rating", slack.NewFeedbackButtonsBlockElement("feedback", good, bad)),
		slack.NewActionBlock("menu", slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, plainObject("Pick"), "pick",
			slack.NewOptionBlockObject("v1", plainObject("One"), nil), slack.NewOptionBlockObject("v2", plainObject("Two"), nil))),
	)
}

func callback(t *testing.T, ev socketmode.Event) slack.InteractionCallback {
	t.Helper()
	c, ok := ev.Data.(slack.InteractionCallback)
	if !ok {
		t.Fatalf("got %T, want an interaction", ev.Data)
	}
	return c
}

func TestClick(t *testing.T) {
	t.Parallel()
	s := open(t, Config{NoEcho: true})
	events := connect(t, s, nil)
	top := s.Say(Ann, General, "", "top")
	next(t, events)
	_, ts, err := client(s).PostMessage(General, slack.MsgOptionTS(top), buttons("Approve", "Deny"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ button, action, block, value string }{
		{"do_approve", "do_approve", "choice", "opaque-Approve"},
		{"Deny", "do_deny", "choice", "opaque-Deny"},
		{"✅ Deny", "do_deny", "choice", "opaque-Deny"},
		{"positive", "feedback", "rating", "positive"},
		{"Bad", "feedback", "rating", "negative"},
	} {
		if err := s.Click(Ben, General, ts, tt.button); err != nil {
			t.Fatalf("%s: %v", tt.button, err)
		}
		c := callback(t, next(t, events))
		a := c.ActionCallback.BlockActions[0]
		if a.ActionID != tt.action || a.BlockID != tt.block || a.Value != tt.value || c.User.ID != Ben || c.Channel.ID != General ||
			c.Container.MessageTs != ts || c.Container.ThreadTs != top || c.Message.Timestamp != ts || c.TriggerID == "" || c.ResponseURL == "" {
			t.Errorf("%s: %+v of %+v", tt.button, a, c)
		}
	}
	if err := s.Choose(Ben, General, ts, "pick", "Two"); err != nil {
		t.Fatal(err)
	}
	if a := callback(t, next(t, events)).ActionCallback.BlockActions[0]; a.SelectedOption.Value != "v2" {
		t.Errorf("menu: %+v", a)
	}
	for _, err := range []error{
		s.Click(Ben, General, ts, "Maybe"), s.Choose(Ben, General, ts, "pick", "Three"),
		s.Click("U404", General, ts, "Deny"), s.Click(Ben, General, "1.000001", "Deny"),
	} {
		if err == nil || errors.Is(err, ErrNotAnswered) {
			t.Errorf("clicking what is not there: %v", err)
		}
	}
}

func TestClickOnEphemeralAndWithoutAnApp(t *testing.T) {
	t.Parallel()
	s := open(t, Config{NoEcho: true})
	if _, err := client(s).PostEphemeral(General, Ben, buttons("Retry")); err != nil {
		t.Fatal(err)
	}
	ts := s.Ephemerals(Ben)[0].TS
	if err := s.Click(Ben, General, ts, "Retry"); !errors.Is(err, ErrNotAnswered) {
		t.Errorf("no app is there: %v", err)
	}
	events := connect(t, s, nil)
	if err := s.Click(Ben, General, ts, "Retry"); err != nil {
		t.Fatal(err)
	}
	c := callback(t, next(t, events))
	if !c.Container.IsEphemeral {
		t.Errorf("container: %+v", c.Container)
	}
	if s.Click(Ann, General, ts, "Retry") == nil {
		t.Error("Ann sees what only Ben sees")
	}
	if _, err := send(s, "", slack.MsgOptionDeleteOriginal(c.ResponseURL)); err != nil {
		t.Fatal(err)
	}
	if e := s.Ephemerals(Ben); !e[0].Gone {
		t.Errorf("ephemeral: %+v", e)
	}
}

func TestResponseURL(t *testing.T) {
	t.Parallel()
	s := open(t, Config{NoEcho: true, HookLife: 200 * time.Millisecond})
	events := connect(t, s, nil)
	_, ts, err := client(s).PostMessage(General, buttons("Approve"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Click(Ann, General, ts, "Approve"); err != nil {
		t.Fatal(err)
	}
	hook := callback(t, next(t, events)).ResponseURL
	use := func(o ...slack.MsgOption) error {
		_, err := send(s, "", o...)
		return err
	}
	text := slack.MsgOptionText
	steps := []error{
		use(text("approved by Ann", false), slack.MsgOptionReplaceOriginal(hook)),
		use(text("psst", false), slack.MsgOptionResponseURL(hook, slack.ResponseTypeEphemeral)),
		use(text("for all", false), slack.MsgOptionResponseURL(hook, slack.ResponseTypeInChannel)),
		use(text("four", false), slack.MsgOptionResponseURL(hook, slack.ResponseTypeEphemeral)),
		use(slack.MsgOptionDeleteOriginal(hook)),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	m, _ := s.Message(General, ts)
	if m.Text != "approved by Ann" || !m.Deleted || len(m.Edits) != 1 {
		t.Errorf("the message: %+v", m)
	}
	if e := s.Ephemerals(Ann); len(e) != 2 || !e[0].Hook || e[0].Text != "psst" {
		t.Errorf("ephemerals: %+v", e)
	}
	if all := s.Messages(General); len(all) != 1 || all[0].Text != "for all" {
		t.Errorf("channel: %+v", all)
	}
	var status slack.StatusCodeError
	if err := use(text("six", false), slack.MsgOptionResponseURL(hook, "")); !errors.As(err, &status) || status.Code != http.StatusNotFound {
		t.Errorf("the sixth use: %v", err)
	}
	if r := s.Requests(); r[len(r)-1].Method != "response_url" || r[len(r)-1].Error != "used_url" {
		t.Errorf("log: %+v", r[len(r)-1])
	}
}

func goalModal() slack.ModalViewRequest {
	goal := slack.NewPlainTextInputBlockElement(nil, "goal")
	goal.Multiline = true
	who := slack.NewOptionsMultiSelectBlockElement(slack.MultiOptTypeUser, nil, "approvers")
	optional := slack.NewInputBlock("who", plainObject("Approvers"), nil, who)
	optional.Optional = true
	return slack.ModalViewRequest{
		Type: slack.VTModal, Title: plainObject("New goal"), Submit: plainObject("Start"), CallbackID: "run", PrivateMetadata: "opaque",
		Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewInputBlock("what", plainObject("Goal"), nil, goal), optional}},
	}
}

func TestModal(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	api := client(s)
	answers := make(chan any, 10)
	events := connect(t, s, func(ev socketmode.Event) any {
		if c, ok := ev.Data.(slack.InteractionCallback); ok && c.Type == slack.InteractionTypeViewSubmission {
			select {
			case a := <-answers:
				return a
			case <-t.Context().Done():
			}
		}
		return nil
	})
	if err := s.Slash(Ann, General, "run"); err != nil {
		t.Fatal(err)
	}
	command, ok := next(t, events).Data.(slack.SlashCommand)
	if !ok {
		t.Fatal("what came is no slash command")
	}
	trigger := command.TriggerID
	opened, err := api.OpenView(trigger, goalModal())
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.OpenView(trigger, goalModal())
	refused(t, err, "exchanged_trigger_id")
	_, err = api.OpenView("made-up", goalModal())
	refused(t, err, "invalid_trigger_id")
	v, ok := s.Modal(Ann)
	if !ok || v.ID != opened.ID || v.Title != "New goal" || v.PrivateMetadata != "opaque" {
		t.Fatalf("modal: %+v", v)
	}
	if got := s.RenderView(v.ID); got != "┌ New goal\n│ Goal: ________\n│ Approvers: [choose ▾]\n└ [Start]\n" {
		t.Errorf("rendered:\n%s", got)
	}

	if _, err := s.Submit(v.ID, Ann, map[string]string{"approvers": "U2"}); err == nil {
		t.Error("a modal was sent without its goal")
	}
	if _, err := s.Submit(v.ID, Ann, map[string]string{"goal": "x", "nothing": "x"}); err == nil {
		t.Error("a field that is not there was filled in")
	}
	answers <- slack.NewErrorsViewSubmissionResponse(map[string]string{"what": "too vague"})
	got, err := s.Submit(v.ID, Ann, map[string]string{"goal": "x"})
	if err != nil || got.Action != "errors" || got.Errors["what"] != "too vague" || got.View != v.ID {
		t.Fatalf("refused: %+v, %v", got, err)
	}
	next(t, events)

	answers <- slack.NewClearViewSubmissionResponse()
	if got, err = s.Submit(v.ID, Ann, map[string]string{"Goal": "ship it", "who": "U1,U2"}); err != nil || got.Action != "clear" {
		t.Fatalf("cleared: %+v, %v", got, err)
	}
	c := callback(t, next(t, events))
	if f := c.View.State.Values; f["what"]["goal"].Value != "ship it" || fmt.Sprint(f["who"]["approvers"].SelectedUsers) != "[U1 U2]" || c.View.PrivateMetadata != "opaque" {
		t.Errorf("values: %+v", f)
	}
	if _, ok := s.Modal(Ann); ok {
		t.Error("a modal is still open")
	}
}

func TestTriggerExpires(t *testing.T) {
	t.Parallel()
	s := open(t, Config{TriggerLife: time.Nanosecond})
	events := connect(t, s, nil)
	if err := s.MessageShortcut(Ann, General, s.Say(Ann, "C1", "", "make it so"), "make_goal"); err != nil {
		t.Fatal(err)
	}
	next(t, events)
	c := callback(t, next(t, events))
	if c.Type != slack.InteractionTypeMessageAction || c.CallbackID != "make_goal" || c.Message.Text != "make it so" {
		t.Errorf("shortcut: %+v", c)
	}
	_, err := client(s).OpenView(c.TriggerID, goalModal())
	refused(t, err, "expired_trigger_id")
}

func TestViewsPublishAndLimits(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	api := client(s)
	events := connect(t, s, nil)
	home := slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: []slack.Block{
		slack.NewActionBlock("b", slack.NewButtonBlockElement("refresh", "r", plainObject("Refresh"))),
	}}}
	published, err := api.PublishView(Ann, home, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = api.PublishView(Ann, home, published.Hash); err != nil {
		t.Fatal(err)
	}
	_, err = api.PublishView(Ann, home, published.Hash)
	refused(t, err, "hash_conflict")
	if v, ok := s.Home(Ann); !ok || v.Updates != 1 {
		t.Errorf("home: %+v", v)
	}
	if err := s.ClickView(Ann, published.ID, "Refresh"); err != nil {
		t.Fatal(err)
	}
	c := callback(t, next(t, events))
	if c.View.ID != published.ID || c.Container.Type != "view" || c.ActionCallback.BlockActions[0].ActionID != "refresh" {
		t.Errorf("click: %+v", c)
	}
	for _, spoil := range []func(*slack.ModalViewRequest){
		func(m *slack.ModalViewRequest) { m.Title = plainObject(strings.Repeat("x", 25)) },
		func(m *slack.ModalViewRequest) { m.Submit = plainObject(strings.Repeat("x", 25)) },
		func(m *slack.ModalViewRequest) { m.Submit = nil },
		func(m *slack.ModalViewRequest) { m.PrivateMetadata = strings.Repeat("x", 3001) },
	} {
		m := goalModal()
		spoil(&m)
		if err := s.ClickView(Ann, published.ID, "Refresh"); err != nil {
			t.Fatal(err)
		}
		_, err := api.OpenView(callback(t, next(t, events)).TriggerID, m)
		refused(t, err, "invalid_arguments")
	}
	if _, err := api.OpenView(c.TriggerID, goalModal()); err != nil {
		t.Fatal(err)
	}
}
