package openai

// This file collects a reply from the chunks of a stream or from one JSON
// text. It accepts the several forms in which servers send content and
// arguments, which go-openai's types do not.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// answer is what arrived so far of one reply.
type answer struct {
	content, refusal []byte
	calls            calls
	finish, model    string
	usage            llm.Usage
	choices          int
	quota            llm.Quota
}

// event is one chunk of a stream, or a whole plain reply: the two differ only
// in the name of the message. Unlike go-openai's chunk it takes content as a list
// and arguments as an object, as some servers send them.
type event struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index   int    `json:"index"`
	Delta   piece  `json:"delta"`
	Message piece  `json:"message"`
	Finish  string `json:"finish_reason"`
}

type piece struct {
	Content text        `json:"content"`
	Refusal string      `json:"refusal"`
	Calls   []callPiece `json:"tool_calls"`
}

type callPiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	goai.Usage
	CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek's name
}

func (u *usage) count() llm.Usage {
	cached := u.CacheHit
	if u.PromptTokensDetails != nil {
		cached = max(cached, u.PromptTokensDetails.CachedTokens)
	}
	prompt := min(max(u.PromptTokens, 0), maxTokens)
	return llm.Usage{Prompt: prompt, Completion: min(max(u.CompletionTokens, 0), maxTokens), Cached: min(max(cached, 0), prompt)}
}

// maxTokens is what an endpoint may say that one call took: more is a mistake,
// and less than nothing would be money back.
const maxTokens = 100_000_000

// text is a message's content: a string, or a list of parts of which the texts
// count.
type text string

// UnmarshalJSON reads both forms.
func (t *text) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return json.Unmarshal(data, (*string)(t))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*t += text(p.Text)
	}
	return nil
}

// arguments is a call's text. Some servers send the object itself: then its
// bytes are the text.
type arguments string

// UnmarshalJSON reads both forms.
func (a *arguments) UnmarshalJSON(data []byte) error {
	if data[0] == '"' || bytes.Equal(data, []byte("null")) {
		return json.Unmarshal(data, (*string)(a))
	}
	*a = arguments(data)
	return nil
}

// add takes one event of a stream.
func (a *answer) add(raw []byte) error {
	var e event
	if e.common(raw) {
		return a.take(&e, raw)
	}
	var uncommon event
	if err := json.Unmarshal(raw, &uncommon); err != nil {
		return fmt.Errorf("%w: %w", errNoUse, err)
	}
	return a.take(&uncommon, raw)
}

func (a *answer) take(e *event, raw []byte) error {
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return &rejection{status: http.StatusOK, header: http.Header{}, body: raw}
	}
	if e.Model != "" {
		a.model = e.Model
	}
	if e.Usage != nil {
		a.usage = e.Usage.count()
	}
	for i := range e.Choices {
		if c := &e.Choices[i]; c.Index == 0 {
			a.piece(&c.Delta)
			a.piece(&c.Message)
			a.choices++
			if c.Finish != "" {
				a.finish = c.Finish
			}
		}
	}
	return nil
}

func (a *answer) piece(p *piece) {
	a.content = append(a.content, p.Content...)
	a.refusal = append(a.refusal, p.Refusal...)
	for i := range p.Calls {
		a.calls.add(&p.Calls[i])
	}
}

func (a *answer) answered() bool { return a.choices > 0 }

// size is how many bytes arrived.
func (a *answer) size() int { return len(a.content) + len(a.refusal) + a.calls.size }

func (a *answer) message() llm.Message {
	return llm.Message{
		Role: llm.Assistant, Content: string(a.content), Refusal: string(a.refusal), Calls: a.calls.list(),
	}
}

// decodePlain reads a reply that came as one JSON text.
func decodePlain(body []byte) (answer, error) {
	var a answer
	if err := a.add(body); err != nil {
		return answer{}, err
	}
	if !a.answered() {
		return answer{}, errNoUse
	}
	return a, nil
}

// nameCalls gives calls without an id one that is the same whenever the same
// conversation gets the same answer.
func nameCalls(calls []llm.Call, turn int) {
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = "call_" + strconv.Itoa(turn) + "_" + strconv.Itoa(i)
		}
	}
}

// countTurns counts the assistant messages of a conversation.
func countTurns(messages []llm.Message) int {
	n := 0
	for i := range messages {
		if messages[i].Role == llm.Assistant {
			n++
		}
	}
	return n
}
