package slacktest

import (
	"bytes"
	"testing"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
)

func TestWhatPeopleDo(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	events := connect(t, s, nil)

	ts := s.DM(Ann, "hello")
	if m := as[slackevents.MessageEvent](t, events); m.ChannelType != "im" || m.Channel != s.IM(Ann) || m.TimeStamp != ts {
		t.Errorf("direct message: %+v", m)
	}
	if err := s.EditMessage(Ann, s.IM(Ann), ts, "hello!"); err != nil {
		t.Fatal(err)
	}
	if m := as[slackevents.MessageEvent](t, events); m.SubType != "message_changed" || m.Message.Text != "hello!" || m.PreviousMessage.Text != "hello" || m.Message.Edited == nil {
		t.Errorf("edit: %+v", m)
	}
	if err := s.React(Ann, s.IM(Ann), ts, "thumbsup"); err != nil {
		t.Fatal(err)
	}
	if r := as[slackevents.ReactionAddedEvent](t, events); r.Reaction != "thumbsup" || r.Item.Timestamp != ts {
		t.Errorf("reaction: %+v", r)
	}
	if err := s.DeleteMessage(s.IM(Ann), ts); err != nil {
		t.Fatal(err)
	}
	if m := as[slackevents.MessageEvent](t, events); m.SubType != "message_deleted" || m.DeletedTimeStamp != ts {
		t.Errorf("deletion: %+v", m)
	}

	s.OpenHome(Ann)
	if h := as[slackevents.AppHomeOpenedEvent](t, events); h.User != Ann || h.Tab != "home" {
		t.Errorf("home: %+v", h)
	}
	channel, thread := s.AssistantThread(Ann)
	if a := as[slackevents.AssistantThreadStartedEvent](t, events); a.AssistantThread.ThreadTimeStamp != thread || a.AssistantThread.ChannelID != channel {
		t.Errorf("assistant: %+v", a)
	}
	s.Say(Stranger, General, "", "hi from elsewhere")
	if m := as[slackevents.MessageEvent](t, events); m.UserTeam != OtherTeam {
		t.Errorf("a stranger's message: %+v", m)
	}
	s.AddChannel(Channel{ID: "C2", Name: "elsewhere", Members: []string{Ann}})
	before := len(s.Deliveries())
	s.Mention(Ann, "C2", "", "hello?")
	if len(s.Deliveries()) != before {
		t.Error("the bot hears a channel that it is not in")
	}
}

func TestStopNeedsAStatus(t *testing.T) {
	t.Parallel()
	s := open(t, Config{NoEcho: true})
	events := connect(t, s, nil)
	ts := s.Say(Ann, General, "", "work")
	next(t, events)
	if s.Stop(Ann, General, ts) == nil {
		t.Error("there is a Stop button without a status")
	}
	status := slack.AssistantThreadsSetStatusParameters{ChannelID: General, ThreadTS: ts, Status: "processing"}
	if err := client(s).SetAssistantThreadsStatus(status); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(Ann, General, ts); err != nil {
		t.Fatal(err)
	}
	if e := as[slackevents.AgentSessionStoppedEvent](t, events); e.ThreadTimestamp != ts || e.User != Ann {
		t.Errorf("stopped: %+v", e)
	}
	if got := s.Status(General, ts); got != "processing" {
		t.Errorf("status %q: it stays until the app empties it", got)
	}
	status.Status = ""
	if err := client(s).SetAssistantThreadsStatus(status); err != nil || s.Status(General, ts) != "" || len(s.Statuses()) != 2 {
		t.Errorf("after clearing: %q, %v", s.Status(General, ts), err)
	}
}

func TestAssistantPrompts(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	channel, thread := s.AssistantThread(Ann)
	p := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: channel, ThreadTS: thread}
	p.AddPrompt("Report", "make a report")
	if err := client(s).SetAssistantThreadsSuggestedPrompts(p); err != nil {
		t.Fatal(err)
	}
	if a := s.AssistantThreads(); len(a) != 1 || !bytes.Contains(a[0].Prompts, []byte("make a report")) {
		t.Errorf("assistant: %+v", a)
	}
	for range 4 {
		p.AddPrompt("more", "more")
	}
	refused(t, client(s).SetAssistantThreadsSuggestedPrompts(p), "invalid_arguments")
}

func TestMembers(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	api := client(s)
	s.AddGroup(UserGroup{ID: "S1", Handle: "ops", Users: []string{Ann, Ben}})
	s.AddChannel(Channel{ID: "C4", Name: "secret", Private: true, Members: []string{Ann}})
	s.AddChannel(Channel{ID: "C5", Name: "open", Members: []string{Ann}})

	for _, tt := range []struct {
		id                                 string
		restricted, stranger, deleted, bot bool
	}{{id: Ann}, {id: Guest, restricted: true}, {id: Stranger, stranger: true}, {id: Gone, deleted: true}, {id: BotUser, bot: true}} {
		u, err := api.GetUserInfo(tt.id)
		if err != nil || u.IsRestricted != tt.restricted || u.IsStranger != tt.stranger || u.Deleted != tt.deleted || u.IsBot != tt.bot {
			t.Errorf("%s: %+v, %v", tt.id, u, err)
		}
	}
	_, err := api.GetUserInfo("U404")
	refused(t, err, "user_not_found")
	if m, err := api.GetUserGroupMembers("S1"); err != nil || len(m) != 2 {
		t.Errorf("members of the group: %v, %v", m, err)
	}
	if c, _, err := api.GetConversationsForUser(&slack.GetConversationsForUserParameters{}); err != nil || len(c) != 1 || c[0].ID != General {
		t.Errorf("own channels: %+v, %v", c, err)
	}
	im, _, _, err := api.OpenConversation(&slack.OpenConversationParameters{Users: []string{Ben}})
	if err != nil || im.ID != s.IM(Ben) {
		t.Errorf("direct message: %+v, %v", im, err)
	}
	group, _, _, err := api.OpenConversation(&slack.OpenConversationParameters{Users: []string{Ann, Ben}})
	if err != nil || !group.IsMpIM {
		t.Errorf("group: %+v, %v", group, err)
	}
	nobody, _, _, err := api.OpenConversation(&slack.OpenConversationParameters{Users: []string{Gone}})
	refused(t, err, "user_disabled")
	if nobody != nil && nobody.ID != "" {
		t.Errorf("a channel with somebody who left: %+v", nobody)
	}
}

func TestReactions(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	api := client(s)
	ref := slack.NewRefToMessage(General, s.Say(Ann, General, "", "top"))
	if err := api.AddReaction("eyes", ref); err != nil {
		t.Fatal(err)
	}
	refused(t, api.AddReaction("eyes", ref), "already_reacted")
	if m, _ := s.Message(General, ref.Timestamp); len(m.Reactions) != 1 || m.Reactions[0].Users[0] != BotUser {
		t.Errorf("reactions: %+v", m.Reactions)
	}
	refused(t, api.AddReaction("eyes", slack.NewRefToMessage(General, "1.000001")), "message_not_found")
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	events := connect(t, s, nil)
	api := client(s)
	ts := s.Say(Ann, General, "", "look", Upload{Name: "notes.txt", Data: []byte("the notes")})
	m := as[slackevents.MessageEvent](t, events)
	if m.SubType != "file_share" || len(m.Message.Files) != 1 || m.Message.Files[0].Name != "notes.txt" || m.Message.Files[0].Mimetype != "text/plain" {
		t.Fatalf("a message with a file: %+v", m.Message)
	}
	var got bytes.Buffer
	if err := api.GetFile(m.Message.Files[0].URLPrivateDownload, &got); err != nil || got.String() != "the notes" {
		t.Errorf("download: %q, %v", got.String(), err)
	}
	stranger := slack.New("xoxb-wrong", slack.OptionAPIURL(s.URL()+"/api/"))
	if err := stranger.GetFile(m.Message.Files[0].URLPrivateDownload, &got); err == nil {
		t.Error("a file was given away for a wrong token")
	}

	f, err := api.UploadFile(slack.UploadFileParameters{
		Filename: "report.md", Title: "Report", FileSize: 6, Reader: bytes.NewReader([]byte("report")),
		Channel: General, ThreadTimestamp: ts, InitialComment: "here",
	})
	if err != nil || f.Title != "Report" {
		t.Fatalf("upload: %+v, %v", f, err)
	}
	thread := s.Thread(General, ts)
	if len(thread) != 2 || thread[1].Text != "here" || string(thread[1].Files[0].Data) != "report" {
		t.Errorf("thread: %+v", thread)
	}
	if info, _, _, err := api.GetFileInfo(f.ID, 0, 0); err != nil || info.Size != 6 || len(info.Shares.Public[General]) != 1 {
		t.Errorf("info: %+v, %v", info, err)
	}
	_, err = api.UploadFile(slack.UploadFileParameters{Filename: "x", FileSize: 7, Content: "shorter"[:3], Channel: General})
	if err == nil {
		t.Error("an upload of another length than promised is accepted")
	}
	if len(s.Files()) != 2 {
		t.Errorf("files: %+v", s.Files())
	}
}
