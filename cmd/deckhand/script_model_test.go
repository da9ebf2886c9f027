package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// endpoint is a script's model server. It remembers what it was asked, and
// what it answers can be changed while it runs.
type endpoint struct {
	server *httptest.Server

	mu     sync.Mutex
	answer llmtest.Script
	got    []llmtest.Request
}

func startEndpoint() *endpoint {
	e := &endpoint{}
	e.server = httptest.NewServer(llmtest.New(func(r llmtest.Request) llmtest.Reply {
		e.mu.Lock()
		e.got = append(e.got, r)
		answer := e.answer
		e.mu.Unlock()
		return answer(r)
	}))
	return e
}

func (e *endpoint) close() {
	e.server.CloseClientConnections()
	e.server.Close()
}

// call is a function call of the model.
func call(name string, arguments any) llm.Call {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // maps of texts always encode
	}
	return llm.Call{Name: name, Arguments: string(b)}
}

type object = map[string]any

var titles = map[string]string{
	"t": "Ready the pilot boat", "a": "Dredge the channel", "b": "Light the beacon", "c": "Open the harbour",
}

func task(id string, tools []string, after ...string) object {
	return object{
		"id": id, "title": titles[id], "instructions": "Do what " + id + " needs.", "tools": tools, "effort": 1, "value": 5,
		"acceptance": "it is there", "deliverable": true, "depends_on": append([]string{}, after...),
		"outputs": []object{{"name": "out_" + id}},
	}
}

func planOf(tasks ...object) llm.Call {
	return call("submit_plan", object{"name": "Harbour", "tasks": tasks})
}

func add(line string) llm.Call {
	return call("append_to_file", object{"path": "notes.md", "text": line + "\n"})
}

// play is what a model says: at intake, turn by turn, and in each task, turn
// by turn; then it finishes. It is a function of the request alone, so that it
// goes on after any death as if nothing had been.
type play struct {
	intake []llm.Call
	work   map[string][]llm.Call
}

func (p play) answer(r llmtest.Request) llmtest.Reply {
	switch r.Purpose {
	case llm.Intake, llm.Plan:
		return llmtest.Calls(p.intake[min(r.Turn, len(p.intake)-1)])
	case llm.Work:
		if calls := p.work[r.Task]; r.Turn < len(calls) {
			return llmtest.Calls(calls[r.Turn])
		}
		return llmtest.Calls(call("finish_task", object{"summary": "done", "outputs": []object{{"name": "out_" + r.Task, "value": "v"}}}))
	case llm.Judge:
		return llmtest.Calls(call("judge_task", object{"accepted": true}))
	default:
		return llmtest.Calls(call("submit_report", object{"headline": "the harbour is ready", "body": "all is written", "artifacts": []string{}, "skipped": []string{}}))
	}
}

// one is a play with one task, "t".
func one(calls ...llm.Call) play {
	tools := []string{"append_to_file", "write_to_file", "delete_file", "calculator", "run_code", "wait", "read_file"}
	return play{[]llm.Call{planOf(task("t", tools))}, map[string][]llm.Call{"t": calls}}
}

// until is a program that is busy for a while.
const until = `const t = Date.now(); while (Date.now() - t < 1500); 6*7`

// plays are the models that scripts name. They are made where a script first
// wants one: each process that a script starts is this binary, too.
var plays = sync.OnceValue(func() map[string]llmtest.Script {
	return map[string]llmtest.Script{
		"notes":  one(add("first"), add("second")).answer,
		"write":  one(call("write_to_file", object{"path": "out.md", "text": "hello\n"})).answer,
		"delete": one(call("write_to_file", object{"path": "old.md", "text": "x\n"}), call("delete_file", object{"path": "old.md"})).answer,
		"code":   one(add("first"), call("run_code", object{"code": until}), add("second")).answer,
		"wait":   one(add("first"), call("wait", object{"seconds": 1.5}), add("second")).answer,
		"three": play{
			[]llm.Call{planOf(task("a", []string{"append_to_file"}), task("b", []string{"append_to_file"}), task("c", []string{"append_to_file"}, "a", "b"))},
			map[string][]llm.Call{"a": {add("of a")}, "b": {add("of b")}, "c": {add("of c")}},
		}.answer,
		"clarify": play{
			[]llm.Call{
				call("ask_human", object{"questions": []object{{"id": "q1", "question": "Which harbour?", "choices": []string{"Kiel", "Hamburg"}, "why": "there are two"}}}),
				planOf(task("t", []string{"append_to_file"})),
			},
			map[string][]llm.Call{"t": {add("noted")}},
		}.answer,
		"reply":       play{intake: []llm.Call{call("reply", object{"text": "Good morning to you."})}}.answer,
		"broken-plan": play{intake: []llm.Call{planOf(task("a", []string{"calculator"}, "b"), task("b", []string{"calculator"}, "a"))}}.answer,
		"impossible":  one(call("fail_task", object{"reason": "there is no harbour", "kind": "impossible"})).answer,
		"job":         jobPlay,
		"cut-off": func(r llmtest.Request) llmtest.Reply {
			if r.Purpose == llm.Work && !strings.Contains(part(r, "text"), "was cut off") {
				return llmtest.Reply{Finish: "length", Calls: []llm.Call{{Name: "write_to_file", Arguments: `{"path": "out.md", "text": "and so on and`}}}
			}
			return one(add("first")).answer(r)
		},
		"cut-short": func(r llmtest.Request) llmtest.Reply {
			return llmtest.Reply{Finish: "length", Calls: []llm.Call{{Name: "submit_plan", Arguments: `{"name": "Harbour", "tasks": [{"id": `}}}
		},
		"café": one(
			call("read_file", object{"path": "caf\u00e9/re\u0301sume\u0301.md"}), call("append_to_file", object{"path": "caf\u00e9/r\u00e9sum\u00e9.md", "text": "and more\n"}),
		).answer,
		"ok":       func(llmtest.Request) llmtest.Reply { return llmtest.Call("ok", "{}") },
		"unusable": func(llmtest.Request) llmtest.Reply { return llmtest.Say("I would rather talk about it.") },
		"refusal":  func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Refusal: "I cannot help with smuggling."} },
		"down":     func(llmtest.Request) llmtest.Reply { return llmtest.Unavailable() },
		"large": one(
			call("write_to_file", object{"path": "out.md", "text": strings.Repeat("a line of the log\n", 20_000)}),
			call("fail_task", object{"reason": "it does not fit", "kind": "impossible"}),
		).answer,
		"once": play{
			[]llm.Call{planOf(task("t", []string{"write_to_file"}))},
			map[string][]llm.Call{"t": {
				call("write_to_file", object{"path": "out.md", "text": "hello\n"}),
				call("fail_task", object{"reason": "it cannot be written", "kind": "impossible"}),
			}},
		}.answer,
		"loop": func(r llmtest.Request) llmtest.Reply {
			if r.Purpose == llm.Work {
				return llmtest.Calls(call("read_file", object{"path": "nowhere.md"}))
			}
			if r.Purpose == llm.Plan {
				return llmtest.Say("I know no other way.")
			}
			return one().answer(r)
		},
		"endless": func(r llmtest.Request) llmtest.Reply {
			if r.Purpose == llm.Work {
				return llmtest.Calls(call("calculator", object{"expression": "1+" + strconv.Itoa(r.Turn)}))
			}
			return one().answer(r)
		},
	}
})

// asJSON turns a reply's call into the JSON object of model.mode json.
func asJSON(reply llmtest.Reply) llmtest.Reply {
	for _, c := range reply.Calls {
		return llmtest.Say(fmt.Sprintf(`{"thoughts": {"text": "next"}, "command": {"name": %q, "args": %s}}`, c.Name, c.Arguments))
	}
	return reply
}

// options are how an endpoint treats requests before its play is asked.
//
//	key=K          any other key is refused with 401; forbid=K: this one with 403
//	only=NAME      any other model is unknown
//	without=tools  functions are refused, and answers are JSON
//	without=usage  no figures are reported
//	hold=PURPOSE/TURN  the first such request is never answered; "held PURPOSE/TURN" waits for it
//	slow=DURATION  each answer takes so long
func options(name string, list []string) (llmtest.Script, error) {
	script, known := plays()[name]
	if !known {
		return nil, fmt.Errorf("no model is called %s", name)
	}
	for _, option := range list {
		key, value, _ := strings.Cut(option, "=")
		inner := script
		var once sync.Once
		switch key + "=" + value {
		case "without=tools":
			script = func(r llmtest.Request) llmtest.Reply {
				if len(r.Functions) > 0 {
					return llmtest.Fail(http.StatusBadRequest, "", "this model does not support tools")
				}
				return asJSON(inner(r))
			}
			continue
		case "without=usage":
			script = func(r llmtest.Request) llmtest.Reply {
				reply := inner(r)
				reply.NoUsage = true
				return reply
			}
			continue
		}
		if key == "slow" {
			pause, err := time.ParseDuration(value)
			if err != nil {
				return nil, err
			}
			script = func(r llmtest.Request) llmtest.Reply { return llmtest.Slow(inner(r), pause) }
			continue
		}
		refuse := map[string]func(r llmtest.Request) (llmtest.Reply, bool){
			"key": func(r llmtest.Request) (llmtest.Reply, bool) {
				return llmtest.Fail(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided"), r.Header.Get("Authorization") != "Bearer "+value
			},
			"forbid": func(r llmtest.Request) (llmtest.Reply, bool) {
				return llmtest.Fail(http.StatusForbidden, "", "This project may not use this model"), r.Header.Get("Authorization") == "Bearer "+value
			},
			"only": func(r llmtest.Request) (llmtest.Reply, bool) {
				return llmtest.Fail(http.StatusNotFound, "model_not_found", "The model '"+r.Model+"' does not exist"), r.Model != value
			},
			"hold": func(r llmtest.Request) (llmtest.Reply, bool) {
				first := false
				if value == fmt.Sprintf("%s/%d", r.Purpose, r.Turn) {
					once.Do(func() { first = true })
				}
				return llmtest.Slow(llmtest.Say(""), time.Hour), first
			},
		}[key]
		if refuse == nil {
			return nil, fmt.Errorf("no option is called %s", key)
		}
		script = func(r llmtest.Request) llmtest.Reply {
			if reply, refused := refuse(r); refused {
				return reply
			}
			return inner(r)
		}
	}
	return script, nil
}

func model(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 1, "model NAME [OPTION...]")
	script, err := options(args[0], args[1:])
	ts.Check(err)
	r := rigOf(ts)
	if r.endpoint == nil {
		r.endpoint = startEndpoint()
		ts.Setenv("OPENAI_BASE_URL", r.endpoint.server.URL+"/v1")
		ts.Setenv("DECKHAND_MODEL", "test-model")
	}
	r.endpoint.mu.Lock()
	defer r.endpoint.mu.Unlock()
	r.endpoint.answer, r.endpoint.got = script, nil
}

// held waits until a request of the purpose and turn has arrived. That it is in the
// journal says less: whoever is killed before it was sent leaves its successor to be
// held instead, until the model's time is over.
func held(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 1, "held PURPOSE/TURN")
	e := rigOf(ts).endpoint
	if !poll(func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.ContainsFunc(e.got, func(r llmtest.Request) bool { return fmt.Sprintf("%s/%d", r.Purpose, r.Turn) == args[0] })
	}) {
		ts.Fatalf("no request %s arrives", args[0])
	}
}

// part is what a request says, its header, or its body as it came.
func part(r llmtest.Request, what string) string {
	var b strings.Builder
	switch what {
	case "body":
		return string(r.Body)
	case "header":
		for name, values := range r.Header {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(values, ", "))
		}
		list := strings.Split(b.String(), "\n")
		slices.Sort(list)
		return strings.Join(list, "\n")
	}
	for _, m := range r.Messages {
		fmt.Fprintln(&b, m.Content)
		for _, c := range m.Calls {
			fmt.Fprintln(&b, c.Name, c.Arguments)
		}
	}
	return b.String()
}

func asked(ts *testscript.TestScript, neg bool, args []string) {
	every, count := false, -1
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if n, is := strings.CutPrefix(args[0], "-count="); is {
			var err error
			count, err = strconv.Atoi(n)
			ts.Check(err)
		}
		every = every || args[0] == "-every"
		args = args[1:]
	}
	expect(ts, args, 3, "asked [-every|-count=N] PURPOSE text|header|body REGEXP")
	re := pattern(ts, args[2])
	e := rigOf(ts).endpoint
	e.mu.Lock()
	defer e.mu.Unlock()
	all, hits := 0, 0
	var miss string
	for _, r := range e.got {
		if args[0] != "any" && args[0] != string(r.Purpose) {
			continue
		}
		all++
		if re.MatchString(part(r, args[1])) {
			hits++
		} else {
			miss = part(r, args[1])
		}
	}
	switch {
	case neg && hits > 0:
		ts.Fatalf("%d of %d requests have %q", hits, all, args[2])
	case neg:
	case count >= 0 && hits != count:
		ts.Fatalf("%d of %d requests have %q, want %d", hits, all, args[2], count)
	case count < 0 && (hits == 0 || every && hits < all):
		ts.Fatalf("%d of %d requests have %q; one that has not:\n%s", hits, all, args[2], miss)
	}
}
