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

// completionOnly are the models that do not chat. go-openai has the same list
// for itself.
var completionOnly = []string{
	goai.CodexCodeDavinci002, goai.CodexCodeCushman001, goai.CodexCodeDavinci001,
	goai.GPT3TextDavinci003, goai.GPT3TextDavinci002, goai.GPT3TextDavinci001,
	goai.GPT3TextCurie001, goai.GPT3TextBabbage001, goai.GPT3TextAda001,
	goai.GPT3DavinciInstructBeta, goai.GPT3CurieInstructBeta,
	goai.GPT3Davinci, goai.GPT3Curie, goai.GPT3Babbage, goai.GPT3Ada,
}
