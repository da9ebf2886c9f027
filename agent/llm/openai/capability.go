package openai

import (
	"slices"
	"strings"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// What is known of OpenAI's models by their names. Of other endpoints' models
// nothing is: what they do not take is learnt from their answers (see adapt).

// reasoning reports whether OpenAI's model of that name takes only
// max_completion_tokens. Other endpoints often know only max_tokens.
func reasoning(model string) bool {
	return slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5", "gpt-6"}, func(family string) bool {
		return strings.HasPrefix(model, family)
	})
}

// effort is "none" for the models that offer functions over Chat Completions
// only without reasoning (go-openai's ReasoningValidator), else empty.
func effort(model string) string {
	if model == goai.GPT6Sol || model == goai.GPT6Luna {
		return goai.ReasoningEffortNone
	}
	return ""
}

// validate asks go-openai whether the model can be used this way at all.
func validate(r llm.Request, m Mode) error {
	if !strings.HasPrefix(r.Model, "gpt-6") || m == JSON || len(r.Functions) == 0 {
		return nil
	}
	return goai.NewReasoningValidator().Validate(goai.ChatCompletionRequest{
		Model: r.Model, ToolChoice: "auto", ReasoningEffort: effort(r.Model),
	})
}

// completionOnly are the models that did not chat, which endpoints with an
// interface like OpenAI's may still offer.
var completionOnly = []string{
	"code-davinci-002", "code-cushman-001", "code-davinci-001",
	"text-davinci-003", "text-davinci-002", "text-davinci-001",
	"text-curie-001", "text-babbage-001", "text-ada-001",
	"davinci-instruct-beta", "curie-instruct-beta",
	"davinci", "curie", "babbage", "ada",
}
