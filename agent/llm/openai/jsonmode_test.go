package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// malformed are answers as models without function calling give them. want is
// the arguments of the call to write, empty where the answer must stay text.
var malformed = []struct{ name, in, want string }{
	{"as asked", `{"thoughts":{"text":"t"},"command":{"name":"write","args":{"path": "a", "n": 1}}}`, `{"path": "a", "n": 1}`},
	{"pretty", "{\n  \"thoughts\": {},\n  \"command\": {\n    \"name\": \"write\",\n    \"args\": {}\n  }\n}\n", `{}`},
	{"fence", "```json\n{\"command\":{\"name\":\"write\",\"args\":{\"a\":1}}}\n```", `{"a":1}`},
	{"fence without language, prose around", "Sure!\n```\n{\"command\":{\"name\":\"write\",\"args\":{\"a\":1}}}\n```\nDone.", `{"a":1}`},
	{"fence never closed", "```json\n{\"command\":{\"name\":\"write\",\"args\":{\"a\":1}}", `{"a":1}`},
	{"text before", `Here is my answer: {"command":{"name":"write","args":{"a":1}}}`, `{"a":1}`},
	{"text after", `{"command":{"name":"write","args":{"a":1}}} I hope this helps!`, `{"a":1}`},
	{"braces in the text before", `I use {write} and {{x}} now: {"command":{"name":"write","args":{"a":1}}}`, `{"a":1}`},
	{"think part", "<think>maybe {\"command\":{\"name\":\"delete\",\"args\":{}}}?</think>{\"command\":{\"name\":\"write\",\"args\":{\"a\":1}}}", `{"a":1}`},
	{"single quotes", `{'command': {'name': 'write', 'args': {'a': 'x "y" z'}}}`, `{"a":"x \"y\" z"}`},
	{"apostrophe in single quotes", `{'command': {'name': 'write', 'args': {'a': 'it's here', 'b': 1}}}`, `{"a":"it's here","b":1}`},
	{"escaped apostrophe", `{"command":{"name":"write","args":{"a":"it\'s"}}}`, `{"a":"it's"}`},
	{"Python", `{'command': {'name': 'write', 'args': {'a': True, 'b': False, 'c': None}}}`, `{"a":true,"b":false,"c":null}`},
	{"Python in double quotes", `{"command": {"name": "write", "args": {"a": True, "b": None}}}`, `{"a":true,"b":null}`},
	{"trailing commas", `{"command":{"name":"write","args":{"a":[1,2,],},},}`, `{"a":[1,2]}`},
	{"doubled commas", `{"command":{"name":"write",,"args":{"a":[1,,2]}}}`, `{"a":[1,2]}`},
	{"one brace missing", `{"command":{"name":"write","args":{"a":1}}`, `{"a":1}`},
	{"all braces missing", `{"thoughts":{"text":"t"},"command":{"name":"write","args":{"a":[1,2`, `{"a":[1,2]}`},
	{"brace missing, prose after", "{\"command\":{\"name\":\"write\",\"args\":{\"a\":1}}\n\nThat is all.", `{"a":1}`},
	{"one brace too many", `{"command":{"name":"write","args":{"a":1}}}}`, `{"a":1}`},
	{"bracket for brace", `{"command":{"name":"write","args":{"a":[1,2}}}`, `{"a":[1,2]}`},
	{"comma missing", "{\"thoughts\":{\"text\":\"t\"}\n\"command\":{\"name\":\"write\"\n\"args\":{\"a\":1}}}", `{"a":1}`},
	{"stringified args", `{"command":{"name":"write","args":"{\"a\": 1}"}}`, `{"a": 1}`},
	{"stringified args, sloppy", `{"command":{"name":"write","args":"{'a': True,}"}}`, `{"a":true}`},
	{"stringified command", `{"thoughts":{},"command":"{\"name\":\"write\",\"args\":{\"a\":1}}"}`, `{"a":1}`},
	{"stringified answer", `"{\"command\":{\"name\":\"write\",\"args\":{\"a\":1}}}"`, `{"a":1}`},
	{"command is a name", `{"command":"write","args":{"a":1}}`, `{"a":1}`},
	{"args beside the command", `{"command":{"name":"write"},"args":{"a":1}}`, `{"a":1}`},
	{"arguments for args", `{"command":{"name":"write","arguments":{"a":1}}}`, `{"a":1}`},
	{"no args", `{"command":{"name":"write"}}`, `{}`},
	{"args null", `{"command":{"name":"write","args":null}}`, `{}`},
	{"args empty string", `{"command":{"name":"write","args":""}}`, `{}`},
	{"bare call", `{"name":"write","arguments":{"a":1}}`, `{"a":1}`},
	{"bare call as a list", `[{"name":"write","arguments":{"a":1}}]`, `{"a":1}`},
	{"wrapped call", `{"tool_calls":[{"type":"function","function":{"name":"write","arguments":"{\"a\":1}"}}]}`, `{"a":1}`},
	{"opening brace missing", `"thoughts":{"text":"t"},"command":{"name":"write","args":{"a":1}}}`, `{"a":1}`},
	{"bare keys", `{command: {name: "write", args: {a: 1, b_2: "x"}}}`, `{"a":1,"b_2":"x"}`},
	{"bare word", `{"command": {"name": write, "args": {"a": yes}}}`, `{"a":"yes"}`},
	{"comments", "{\n// what I do\n\"command\": {\"name\": \"write\", # this\n \"args\": {\"a\": 1 /* one */}}}", `{"a":1}`},
	{"line break in a string", "{\"command\":{\"name\":\"write\",\"args\":{\"a\":\"one\ntwo\tthree\"}}}", `{"a":"one\ntwo\tthree"}`},
	{"regular expression", `{"command":{"name":"write","args":{"a":"\d+\.\w"}}}`, `{"a":"\\d+\\.\\w"}`},
	{"bare quotes inside", `{"command":{"name":"write","args":{"a":"He said "hi" to me","b":2}}}`, `{"a":"He said \"hi\" to me","b":2}`},
	{"bare quotes in code", `{"command":{"name":"write","args":{"a":"print("x", "y")","b":2}}}`, `{"a":"print(\"x\", \"y\")","b":2}`},
	{"triple quotes", "{\"command\":{\"name\":\"write\",\"args\":{\"a\":\"\"\"one\n\"two\" \"\"\"}}}", `{"a":"one\n\"two\" "}`},
	{"curly quotes", `{“command”: {“name”: “write”, “args”: {“a”: “x”}}}`, `{"a":"x"}`},
	{"back quotes", "{\"command\":{\"name\":\"write\",\"args\":{\"a\":`x ${y}`}}}", `{"a":"x ${y}"}`},
	{"odd numbers", `{"command":{"name":"write","args":{"a":+1,"b":.5,"c":2.,"d":1_000,"e":NaN}}}`, `{"a":1,"b":0.5,"c":2,"d":1000,"e":null}`},
	{"escapes", `{'command':{'name':'write','args':{'a':'\u00e4\ud83d\ude00\x41\q'}}}`, `{"a":"ä😀A\\q"}`},
	{"null byte escape", `{'command':{'name':'write','args':{'a':'\u0000'}}}`, `{"a":"\u0000"}`},
	{"key without value", `{"command":{"name":"write","args":{"a":,"b":1}}}`, `{"a":null,"b":1}`},
	{"byte order mark", "\ufeff{\"command\":{\"name\":\"write\",\"args\":{\"a\":1}}}", `{"a":1}`},
	{"two commands", `{"command":{"name":"write","args":{"a":1}}}{"command":{"name":"write","args":{"a":2}}}`, `{"a":1}`},
	{"name with brackets", `{"command":{"name":" write() ","args":{"a":1}}}`, `{"a":1}`},

	{"prose", "I think we are done here.", ""},
	{"an object that is no command", `{"result": 5, "files": ["a"]}`, ""},
	{"empty", "", ""},
	{"broke off in a string", `{"command":{"name":"write","args":{"a":"some te`, ""},
	{"broke off in a string that holds a command", `{"command":{"name":"write","args":{"a":'{"name": "delete", "args": {"p": 1}}`, ""},
	{"name is no word", `{"command":{"name":{"x":1},"args":{}}}`, ""},
	{"name is empty", `{"command":{"name":"","args":{}}}`, ""},
}

func jsonRequest() llm.Request {
	r := request()
	r.Functions = []llm.Function{{Name: "write", Description: "Write"}, {Name: "delete", Description: "Delete"}}
	return r
}

func TestMalformedAnswers(t *testing.T) {
	broken, repaired := 0, 0
	for _, tt := range malformed {
		got := command(llm.Message{Role: llm.Assistant, Content: tt.in}, jsonRequest(), "stop")
		if got.Content != tt.in {
			t.Errorf("%s: content changed to %q", tt.name, got.Content)
		}
		if tt.want == "" {
			if len(got.Calls) != 0 {
				t.Errorf("%s: made up a call: %+v", tt.name, got.Calls)
			}
			continue
		}
		broken++
		if len(got.Calls) == 1 && got.Calls[0].Name == "write" && got.Calls[0].Arguments == tt.want {
			repaired++
			continue
		}
		t.Errorf("%s: got %+v, want write %s", tt.name, got.Calls, tt.want)
	}
	t.Logf("%d of %d malformed answers repaired", repaired, broken)
}

func TestLimitedAnswerIsNotCompleted(t *testing.T) {
	m := llm.Message{Content: `{"command":{"name":"write","args":{"a":1}`}
	if got := command(m, jsonRequest(), "length"); len(got.Calls) != 0 {
		t.Errorf("closed the braces of an answer that hit its limit: %+v", got.Calls)
	}
	m.Content += "}}"
	if got := command(m, jsonRequest(), "length"); len(got.Calls) != 1 {
		t.Errorf("a whole answer was not taken")
	}
}

func TestJSONMode(t *testing.T) {
	answer := "```json\n{'thoughts': {'text': 't'}, 'command': {'name': 'write', 'args': {'path': 'a'}}}\n```"
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Say(answer) })
	c, r := client(t, s, func(c *Config) { c.Mode = JSON }), jsonRequest()
	first, err := c.Complete(t.Context(), r)
	if err != nil || len(first.Message.Calls) != 1 {
		t.Fatalf("got %+v, %v", first, err)
	}
	call := first.Message.Calls[0]
	if !strings.HasPrefix(call.ID, "json_0_") {
		t.Errorf("id %q", call.ID)
	}
	r.Messages = append(r.Messages, first.Message, llm.Message{Role: llm.Tool, CallID: call.ID, Content: "written"},
		llm.Message{Role: llm.User, Content: "hurry"},
		llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "call_9", Name: "delete", Arguments: `{"path":"b"}`}}},
		llm.Message{Role: llm.Tool, CallID: "call_9", Content: "gone"})
	again, err := c.Complete(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if again.Message.Calls[0].ID == call.ID {
		t.Error("two calls with one id in a conversation")
	}
	got := s.Requests()[1]
	want := []llm.Message{
		{Role: llm.User, Content: request().Messages[1].Content},
		{Role: llm.Assistant, Content: answer},
		{Role: llm.User, Content: "Result of write:\nwritten\n\nhurry"},
		{Role: llm.Assistant, Content: `{"command": {"name": "delete", "args": {"path":"b"}}}`},
		{Role: llm.User, Content: "Result of delete:\ngone"},
	}
	if diff := cmp.Diff(want, got.Messages[1:]); diff != "" {
		t.Error(diff)
	}
	system := got.Messages[0].Content
	for _, part := range []string{"You work.", `"command": {"name"`, "- write: Write\n  args: {\"type\":\"object\"", "- delete: Delete"} {
		if !strings.Contains(system, part) {
			t.Errorf("the system message lacks %q:\n%s", part, system)
		}
	}
	if got.Functions != nil || got.ToolChoice != "" || !strings.Contains(string(got.Body), `"response_format":{"type":"json_object"}`) {
		t.Errorf("sent %s", got.Body)
	}
	if system != s.Requests()[0].Messages[0].Content {
		t.Error("the system message changed within a conversation")
	}
}

func TestJSONModeWithoutSystemMessageOrFormat(t *testing.T) {
	s := llmtest.Start(t, func(r llmtest.Request) llmtest.Reply {
		if strings.Contains(string(r.Body), "response_format") {
			return llmtest.Fail(400, "", "response_format is not supported")
		}
		return llmtest.Say("no idea")
	})
	c, r := client(t, s, func(c *Config) { c.Mode = JSON }), jsonRequest()
	r.Messages = r.Messages[1:]
	got, err := c.Complete(t.Context(), r)
	if err != nil || got.Message.Calls != nil || got.Message.Content != "no idea" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if last := s.Requests()[1]; last.Messages[0].Role != llm.System || len(last.Messages) != 2 {
		t.Errorf("sent %+v", last.Messages)
	}
}

func TestToolsModeLeavesTextAlone(t *testing.T) {
	text := `{"command":{"name":"list_files","args":{}}}`
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Say(text) })
	got, err := client(t, s, nil).Complete(t.Context(), request())
	if err != nil || got.Message.Calls != nil || got.Message.Content != text {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzCommand(f *testing.F) {
	for _, tt := range malformed {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := command(llm.Message{Content: in}, jsonRequest(), "stop")
		if got.Content != in || len(got.Calls) > 1 {
			t.Fatalf("got %+v", got)
		}
		for _, c := range got.Calls {
			if !json.Valid([]byte(c.Arguments)) || c.Name == "" || c.ID == "" {
				t.Fatalf("call %+v", c)
			}
		}
		if again := command(got, jsonRequest(), "stop"); !cmp.Equal(got, again) {
			t.Fatal("not deterministic")
		}
	})
}

func FuzzRepair(f *testing.F) {
	for _, tt := range malformed {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, state := repair(in)
		ok := state == intact || state == repaired || state == unclosed
		if ok != json.Valid(out) {
			t.Fatalf("state %d, output %q", state, out)
		}
		if json.Valid([]byte(in)) && (state != intact || string(out) != strings.Trim(in, " \t\r\n")) {
			t.Fatalf("valid input was changed: %q to %q (state %d)", in, out, state)
		}
	})
}
