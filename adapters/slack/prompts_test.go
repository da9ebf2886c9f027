package slack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
)

// offers are prompts for the place that somebody looks at.
func offers(in bot.Inbound) (bot.Answer, error) {
	if o, is := in.Act.(bot.Opened); is {
		return bot.Answer{Prompts: &bot.Prompts{Title: "Try", List: []bot.Prompt{
			{Title: "Sum up", Text: "Sum up " + o.Viewing.Channel}, {Title: "a", Text: "a"}, {Title: "b", Text: "b"}, {Title: "c", Text: "c"}, {Title: "too many", Text: "d"},
		}}}, nil
	}
	return bot.Answer{Run: "r"}, nil
}

func (r *rig) offered(channel, thread, what string) {
	r.Helper()
	r.until("prompts about "+what, func() bool {
		list := r.AssistantThreads()
		return len(list) == 1 && list[0].Channel == channel && list[0].ThreadTS == thread &&
			strings.Contains(string(list[0].Prompts), `"Sum up `+what+`"`) && !strings.Contains(string(list[0].Prompts), "too many")
	})
}

func TestThreadsOfTheAssistantOfferPrompts(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Answers(offers)
	channel, thread := r.AssistantThread(slacktest.Ann)
	r.offered(channel, thread, slacktest.General)
}

// A channel says what it is called and what it is for; nobody is told of one that
// the bot is not in.
func TestChannelsAreDescribed(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.AddChannel(slacktest.Channel{ID: "C7", Name: "sales", Topic: "What we sold", Members: []string{slacktest.Ann, slacktest.BotUser}})
	r.AddChannel(slacktest.Channel{ID: "C8", Name: "secret", Private: true, Members: []string{slacktest.Ann}})
	at := bot.Address{Platform: "slack", Workspace: slacktest.Team, Channel: "C7"}
	if name, about, err := r.s.Describe(t.Context(), at); name != "sales" || about != "What we sold" || err != nil {
		t.Errorf("%q, %q, %v", name, about, err)
	}
	at.Channel = "C8"
	if name, about, err := r.s.Describe(t.Context(), at); name+about != "" || err == nil {
		t.Errorf("%q, %q, %v", name, about, err)
	}
}

// An agent's prompts are those of the conversation, and fit what is open beside
// it. What is offered already costs no call.
func TestConversationsOfferPrompts(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Answers(offers)
	r.AddChannel(slacktest.Channel{ID: "C7", Name: "sales", Members: []string{slacktest.Ann, slacktest.BotUser}})
	r.View(slacktest.Ann, slacktest.General, "") // nobody knows the conversation yet
	channel := r.OpenMessages(slacktest.Ann)
	r.offered(channel, "", slacktest.General)
	r.View(slacktest.Ann, "C7", "")
	r.offered(channel, "", "C7")
	before := r.Count(promptsMethod)
	r.View(slacktest.Ann, "C7", "")
	r.settled()
	r.DM(slacktest.Ann, "count") // in the conversation, behind it
	r.Hears(4)
	if n := r.Count(promptsMethod); n != before {
		t.Errorf("%d calls offer what is offered", n-before)
	}
	r.Fail(promptsMethod, 1, slacktest.APIError("internal_error"))
	r.OpenMessages(slacktest.Ann)
	r.until("it was tried", func() bool { return r.Count(promptsMethod) == before+1 })
	r.OpenMessages(slacktest.Ann)
	r.Hears(6)
	if n := r.Count(promptsMethod); n != before+1 || strings.Count(r.Log.String(), "prompts could not be set") > 1 {
		t.Errorf("tried %d times; %s", n-before, r.Log)
	}
}

func TestWhatIsOpenComesWithAMessage(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	root := r.Say(slacktest.Ben, slacktest.General, "", "the door is broken")
	r.View(slacktest.Ann, slacktest.General, "")
	r.View(slacktest.Ann, slacktest.General, root)
	dm := r.DM(slacktest.Ann, "mend that")
	in := r.Hears(1)[0]
	if diff := cmp.Diff([]bot.Address{general(root), general("")}, said(t, in).Viewing); diff != "" || in.Message.ID != dm {
		t.Error(diff)
	}
	r.Mention(slacktest.Ann, slacktest.General, "", "and this")
	if s := said(t, r.Hears(2)[1]); s.Viewing != nil {
		t.Errorf("a channel is told what somebody has open: %v", s.Viewing)
	}
}
