package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is read by hand is what encoding/json reads.
func FuzzCommon(f *testing.F) {
	for raw, common := range map[string]bool{
		`{"id":"x","object":"chat.completion.chunk","created":1741569952,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":" wörd\n"},"logprobs":null,"finish_reason":null}]}`:   true,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":\"\\n\"}"}}]}}]}`:                                                        true,
		`{"model":"m","choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":-3,"prompt_tokens_details":{"cached_tokens":4}}}`: true,
		` { "choices" : [ ] , "usage" : null, "x":[1,{"y":[true,false,null,"",[]]}] } `:                                                                                                                true,
		`null`: true, `{}`: true,
		`{"usage":{"prompt_tokens":1,"prompt_tokens_details":null,"prompt_cache_hit_tokens":7}}`: true,

		`{"error":{"message":"busy"}}`:                                           false,
		`{"choices":[{"delta":{"content":[{"text":"a"}]}}]}`:                     false,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{}}}]}}]}`: false,
		`{"choices":[{"delta":{"content":"\u00e9"}}]}`:                           false,
		`{"Model":"m"}`:                 false,
		`{"model":"\xff"}`:              false,
		`{"model":"a","created":1.5}`:   false,
		`{"model":"a","created":01}`:    false,
		`{"model":"a",}`:                false,
		`{"model":"a"}x`:                false,
		`{"model":"a"`:                  false,
		`{"model":"a\q"}`:               false,
		`{"model":"a\`:                  false,
		`{"model":"a` + "\n" + `"}`:     false,
		`{"choices":[],"choices":null}`: false,
		`{"choices":[{"index":0 1}]}`:   false,
		`{"created":- 1}`:               false,
		``:                              false,
	} {
		var e event
		if e.common([]byte(raw)) != common {
			f.Errorf("%s: read by hand: %v", raw, !common)
		}
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got, want event
		if !got.common(raw) {
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("%s is no JSON", raw)
		}
		if json.Unmarshal(raw, &want) != nil {
			return // by a type of something that means nothing here
		}
		if got.Usage != nil && want.Usage != nil {
			want.Usage.TotalTokens, want.Usage.CompletionTokensDetails = 0, nil
			if d := want.Usage.PromptTokensDetails; d != nil {
				d.AudioTokens = 0
			}
		}
		want.Error = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-encoding/json +by hand):\n%s", raw, diff)
		}
	})
}
