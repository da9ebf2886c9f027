package openai

// What endpoints say about their limits, in the headers that OpenAI began with.

import (
	"net/http"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// longestRefill is the longest time in which a limit of a minute is there again: a
// longer one belongs to a limit of an hour or a day, which is no pace.
const longestRefill = 61 * time.Second

// quota reads x-ratelimit-limit-requests, -tokens and what belongs to them.
func quota(h http.Header) llm.Quota {
	return llm.Quota{
		Requests: aMinute(h, "requests"), Tokens: aMinute(h, "tokens"),
		OutOfTokens: h.Get("X-Ratelimit-Remaining-Tokens") == "0",
	}
}

// aMinute is a limit of a minute, 0 where there is none.
func aMinute(h http.Header, what string) int {
	limit, err := strconv.Atoi(h.Get("X-Ratelimit-Limit-" + what))
	if err != nil || limit < 0 {
		return 0
	}
	if reset, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what)); err == nil && reset > longestRefill {
		return 0
	}
	return limit
}
