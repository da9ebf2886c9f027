package slack

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
)

// hanging is a Slack that takes every request and never answers.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Who connects gives up on a Slack that does not answer, and can ask again.
func TestASlackThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		_, err := New(ctx, Config{BotToken: "xoxb-1", Client: &http.Client{Transport: hanging{}}})
		if took := time.Since(began); err == nil || took > time.Minute {
			t.Errorf("gave up after %s: %v", took, err)
		}
	})
}

// A group that Slack refuses to show gives nobody rights, and takes nobody's
// voice: what people say is heard all the same.
func TestAGroupThatIsRefusedSilencesNobody(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, func(c *Config) { c.Groups = []string{"S1"} })
	r.Fail("usergroups.users.list", 1000, slacktest.APIError("permission_denied"))
	r.Mention(slacktest.Ann, slacktest.General, "", "hi")
	if in := r.Hears(1)[0]; len(in.By.Also) != 0 {
		t.Errorf("by %+v", in.By)
	}
	if !strings.Contains(r.Log.String(), "permission_denied") {
		t.Error("nothing is logged of it")
	}
}

// A person whom Slack refuses to show is no full member, and is heard.
func TestAPersonWhoIsRefusedIsHeard(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Fail("users.info", 1000, slacktest.APIError("user_is_secret"))
	r.Mention(slacktest.Ann, slacktest.General, "", "hi")
	if in := r.Hears(1)[0]; in.By.Full {
		t.Errorf("by %+v", in.By)
	}
}

// A Slack that cannot say who people are makes nobody a full member, and the
// doctor says so.
func TestASlackThatKnowsNobodyGivesNoRights(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{Scopes: Scopes()}, nil)
	r.Fail("users.info", 1000, slacktest.APIError("unknown_method"))
	r.Mention(slacktest.Ann, slacktest.General, "", "hi")
	if in := r.Hears(1)[0]; in.By.Full {
		t.Errorf("by %+v", in.By)
	}
	found, err := Check(t.Context(), Config{BotToken: r.BotToken, APIURL: r.URL() + "/api/"})
	if err != nil || !strings.Contains(found, "warning: this Slack does not say who people are (users.info: unknown_method)") {
		t.Errorf("%q, %v", found, err)
	}
}
