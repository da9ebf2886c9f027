package discord

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

func TestSignedRequests(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{Deliver: "x"}, nil)
	if err := r.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at     time.Time
		forged bool
		status int
	}{
		"fresh":  {time.Now().Add(-4 * time.Minute), false, http.StatusOK},
		"forged": {time.Now(), true, http.StatusUnauthorized},
		"stale":  {time.Now().Add(-6 * time.Minute), false, http.StatusUnauthorized},
		"future": {time.Now().Add(6 * time.Minute), false, http.StatusUnauthorized},
	} {
		if status, _, err := r.SendPing(t.Context(), c.at, c.forged); err != nil || status != c.status {
			t.Errorf("%s: answered with %d, %v", name, status, err)
		}
	}
	body, at := []byte(`{"type":1,"id":"7"}`), time.Now()
	for i, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		if status, _, err := r.SendRaw(t.Context(), body, at, false); err != nil || status != want {
			t.Errorf("the same bytes, time %d: answered with %d, %v", i+1, status, err)
		}
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{Deliver: "x"}, nil)
	ask := func(method, body string, sign bool) int {
		q := httptest.NewRequestWithContext(t.Context(), method, "/discord/interactions", strings.NewReader(body))
		if sign {
			r.Sign(q.Header, []byte(body), time.Now())
		}
		w := httptest.NewRecorder()
		r.routes.ServeHTTP(w, q)
		return w.Code
	}
	for _, c := range []struct {
		method, body string
		sign         bool
		status       int
	}{
		{http.MethodGet, "", false, http.StatusMethodNotAllowed},
		{http.MethodPost, strings.Repeat("x", 1<<20+1), true, http.StatusRequestEntityTooLarge},
		{http.MethodPost, strings.Repeat("x", 1<<20+1), false, http.StatusUnauthorized},
		{http.MethodPost, "{}", false, http.StatusUnauthorized},
		{http.MethodPost, "{", true, http.StatusBadRequest},
		{http.MethodPost, `{"type":99,"id":"1","token":"t"}`, true, http.StatusBadRequest},
		{http.MethodPost, `{"type":2,"id":"1","token":"../../users/@me"}`, true, http.StatusBadRequest},
	} {
		if got := ask(c.method, c.body, c.sign); got != c.status {
			t.Errorf("%s %.40q: answered with %d, want %d", c.method, c.body, got, c.status)
		}
	}
	r.stop()
	if got := ask(http.MethodPost, `{"type":2,"id":"1","token":"t"}`, true); got != http.StatusServiceUnavailable {
		t.Errorf("after the end it is answered with %d", got)
	}
}

// TestUnreadableFormsAreAnswered sends a form with components that nobody knows.
func TestUnreadableFormsAreAnswered(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{Deliver: "x"}, nil)
	r.Always(bot.Answer{Private: "Thank you."})
	id := api.FirstID(time.Now())
	for name, c := range map[string]struct{ data, told string }{
		"unknown components": {`{"custom_id":"form:rate x","components":[{"type":99,"component":{"type":98,"custom_id":"comment","value":{"deep":[1]}}},
			{"type":18,"component":{"type":4,"custom_id":"comment","value":"bad"}},null,7,{"components":{}}]}`, "Thank you."},
		"no components": {`{"custom_id":"form:rate x"}`, "Thank you."},
		"somebody's":    {`{"custom_id":"else","components":[]}`, textUnread},
		"null":          {`null`, textUnread},
		"a list":        {`[]`, textUnread},
	} {
		id++
		body := `{"id":"` + idText(id) + `","application_id":"1","type":5,"token":"t","channel_id":"5","channel":{"id":"5","type":0},"guild_id":"6",
			"member":{"user":{"id":"7","username":"x"},"roles":[]},"data":` + c.data + `}`
		status, answer, err := r.SendRaw(t.Context(), []byte(body), time.Now(), false)
		var got struct {
			Data struct {
				Content string `json:"content"`
				Flags   int    `json:"flags"`
			} `json:"data"`
		}
		if err != nil || status != http.StatusOK || json.Unmarshal(answer, &got) != nil || got.Data.Content != c.told || got.Data.Flags&int(discordgo.MessageFlagsEphemeral) == 0 {
			t.Errorf("%s: answered with %d, %s, %v", name, status, answer, err)
		}
	}
}
