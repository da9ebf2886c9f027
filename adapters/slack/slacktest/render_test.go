package slacktest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

func TestRender(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	api := client(s)
	s.AddGroup(UserGroup{ID: "S1", Handle: "ops", Users: []string{Ann}})
	top := s.Mention(Ann, General, "", "ask <!subteam^S1> &amp; <@U2> in <#C1>", Upload{Name: "data.csv", Data: make([]byte, 2048)})
	plan := slack.NewPlanBlock("Plan").WithTasks(
		slack.NewTaskCardBlock("1", "read").WithStatus(slack.TaskCardStatusComplete),
		slack.NewTaskCardBlock("2", "write").WithStatus(slack.TaskCardStatusInProgress),
		slack.NewTaskCardBlock("3", "check"),
	)
	_, card, err := api.PostMessage(General, slack.MsgOptionTS(top), slack.MsgOptionText("fallback", false))
	if err != nil {
		t.Fatal(err)
	}
	_, err = send(s, General, slack.MsgOptionUpdate(card), slack.MsgOptionText("fallback", false), slack.MsgOptionBlocks(
		slack.NewHeaderBlock(plainObject("Ship it")),
		slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, "see <https://x.test|the page>", false, false), nil, nil),
		plan,
		slack.NewMarkdownBlock("m", "**bold**\nnext line"),
		slack.NewActionBlock("a", slack.NewButtonBlockElement("ok", "v", plainObject("Approve")), slack.NewButtonBlockElement("no", "v", plainObject("Deny"))),
		slack.NewContextBlock("c", slack.NewTextBlockObject(slack.MarkdownType, "12 s", false, false)),
	))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.React(Ben, General, card, "eyes"); err != nil {
		t.Fatal(err)
	}
	if _, err := api.PostEphemeral(General, Ben, slack.MsgOptionTS(top), slack.MsgOptionText("not you", false)); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.Render(&b, General, top); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(b.String(), "HH:MM:SS")
	const want = `#general

HH:MM:SS  Ann
  @Deckhand ask @ops & @Ben in #general
  📎 data.csv (2.0 KB)

  HH:MM:SS  Deckhand (edited 1 time)
    ▌ Ship it
    see the page (https://x.test)
    Plan
      ● read
      ◐ write
      ○ check
    **bold**
    next line
    [Approve] [Deny]
    12 s
    :eyes: 1

HH:MM:SS  only visible to Ben
  not you
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	b.Reset()
	if err := s.Render(&b, General, ""); err != nil || !strings.Contains(b.String(), "↳ 1 reply") {
		t.Errorf("channel: %v\n%s", err, b.String())
	}
	if got := s.RenderMessage(General, card); !strings.Contains(got, "[Approve] [Deny]") {
		t.Errorf("message:\n%s", got)
	}
}
