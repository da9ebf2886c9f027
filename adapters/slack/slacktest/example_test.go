package slacktest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
)

func Example() {
	srv := slacktest.New(slacktest.Config{})
	defer srv.Close()
	api := slack.New(srv.BotToken, slack.OptionAPIURL(srv.URL()+"/api/"), slack.OptionAppLevelToken(srv.AppToken))

	ts := srv.Mention(slacktest.Ann, slacktest.General, "", "how are you?")
	if _, _, err := api.PostMessage(slacktest.General, slack.MsgOptionTS(ts), slack.MsgOptionText("fine", false)); err != nil {
		fmt.Println(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := srv.Wait(ctx, func() bool { return len(srv.Thread(slacktest.General, ts)) == 2 }); err != nil {
		fmt.Println(err)
	}
	for _, m := range srv.Thread(slacktest.General, ts) {
		fmt.Println(m.User, m.Text)
	}
	// Output:
	// U1 <@UBOT> how are you?
	// UBOT fine
}
