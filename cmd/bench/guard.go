package main

// This file measures what guards cost and what they hold: decisions of the policy,
// the audit chain beside commits, requests that nobody signed, and a model that
// answers whatever does most harm.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// benchPolicy measures a decision under 200 rules: of which most name their tool, and
// of all kinds, each of which has to be looked at.
func benchPolicy(context.Context, *environment) ([]row, error) {
	var named, kinds strings.Builder
	for i := range 200 {
		fmt.Fprintf(&named, "  - {name: r%d, effect: deny, when: 'tool == \"shop__refund_%d\" && args.amount > %d.0'}\n", i, i, i)
		when := fmt.Sprintf(`person in ["slack:U%d", "slack:V%d"] && taint.untrusted`, i+2, i)
		switch i % 5 {
		case 0:
			when = fmt.Sprintf(`host == "h%d.example.com" && role == "guest"`, i)
		case 1:
			when = fmt.Sprintf(`weekday == "friday" && hour >= 18 && path.startsWith("reports/%d/")`, i)
		case 2:
			when = fmt.Sprintf(`channel == "slack:T1:C%d" && spend > 3.0`, i+2)
		case 3:
			when = fmt.Sprintf(`has(args.amount) && args.amount > %d.0`, 100_000+i)
		}
		fmt.Fprintf(&kinds, "  - {name: r%d, effect: deny, when: %q}\n", i, when)
	}
	r := &agent.Run{Brief: agent.RunStarted{Requester: "slack:U1", ReplyTo: "slack:T1:C1:17.1", Autonomy: agent.AskRisky}}
	act := agent.Act{Tool: agent.ToolSpec{Name: "shop__refund_7"}, Class: agent.ClassSend, At: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Arguments: json.RawMessage(`{"amount": 2.5, "to": "ada@corp.example", "note": "see https://shop.example.com/orders/17"}`)}
	var rows []row
	for _, p := range []struct{ name, rules string }{{"that name their tools", named.String()}, {"of all kinds", kinds.String()}} {
		f, err := policy.Read("policy.yaml", []byte("rules:\n"+p.rules))
		if err != nil {
			return nil, err
		}
		decides := policy.New(policy.Options{Everywhere: f})
		const stretch = 200
		var took []time.Duration
		for range 100 {
			began := time.Now()
			for range stretch {
				if word := decides.Permit(r, act); word.Verdict != agent.Ask {
					return nil, fmt.Errorf("the policy says %+v", word)
				}
			}
			took = append(took, time.Since(began)/stretch)
		}
		p50 := quantile(took, 0.5)
		rows = append(rows, row{name: "policy decision, 200 rules " + p.name, value: fmt.Sprintf("%.1f µs", float64(p50.Nanoseconds())/1000), aim: "≤ 20 µs", reached: p50 <= 20*time.Microsecond})
	}
	return rows, nil
}

// benchAudit compares the processor time of commits with and without the chain.
func benchAudit(ctx context.Context, e *environment) ([]row, error) {
	var raw time.Duration
	var sealed time.Duration
	for i := range 6 { // in turn: other work on the machine falls on both
		took, err := commits(ctx, filepath.Join(e.dir, "audit"+strconv.Itoa(i)), i%2 == 1)
		if err != nil {
			return nil, err
		}
		if i%2 == 1 {
			sealed += took / 3
		} else {
			raw += took / 3
		}
	}
	share := 100 * (float64(sealed)/float64(raw) - 1)
	return []row{{name: "CPU a commit with the audit chain, SQLite", value: sealed.Round(time.Microsecond / 10).String(), baseline: raw.Round(time.Microsecond / 10).String(),
		ratio: fmt.Sprintf("%+.1f %%", share), aim: "≤ +5 %", reached: share <= 5}}, nil
}

// commits is the processor time of one commit of many: steps of 20 runs, sealed as a
// process seals them.
func commits(ctx context.Context, dir string, chain bool) (time.Duration, error) {
	const runs, steps = 20, 100
	s, err := sqlite.Open(ctx, sqlite.Config{Dir: dir}, sqlite.Worker)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	sealer := audit.NewSealer(s, slog.New(slog.DiscardHandler))
	began := cpu()
	for step := range steps {
		for i := range runs {
			c := agent.Commit{ID: agent.NewID(), Run: agent.RunID(fmt.Sprintf("run%013d", i)), Seen: agent.SeenAll}
			if step == 0 {
				c.Events = []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "a goal of some words", Requester: "slack:U1"}}}
			} else {
				effect := agent.EffectID(fmt.Sprintf("task/a.%d.0", step))
				c.Events = []agent.Event{
					{Strand: "task/a", Body: agent.ModelAnswered{Call: "c", Purpose: llm.Work, Model: "m", Prompt: 900, Completion: 60,
						Message: &llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "c", Name: "write_to_file", Arguments: `{"path":"a.md","text":"` + strings.Repeat("words ", 60) + `"}`}}}}},
					{Strand: "task/a", Body: agent.ToolIntent{Effect: effect, Tool: "write_to_file", Arguments: json.RawMessage(`{"path":"a.md"}`), Rule: "grant.writes"}},
					{Strand: "task/a", Body: agent.ToolOutcome{Effect: effect, State: agent.OutcomeOK, Trust: agent.Trusted, Text: "wrote a.md"}},
				}
			}
			if _, err := s.Commit(ctx, c); err != nil {
				return 0, err
			}
			if chain {
				sealer.Wrote(c)
			}
		}
		if chain && step%10 == 9 { // about once a second
			if err := sealer.Seal(ctx, time.Now().Add(time.Minute)); err != nil {
				return 0, err
			}
		}
	}
	return (cpu() - began) / (runs * steps), nil
}

// served is the built program at work alone, with its address.
type served struct {
	cmd  *exec.Cmd
	addr string
	dir  string
	env  []string
}

// startServed starts the built program on SQLite until it is ready.
func startServed(ctx context.Context, e *environment, name string, env ...string) (*served, error) {
	s := &served{dir: filepath.Join(e.dir, name)}
	s.env = append(os.Environ(), "DECKHAND_HTTP_ADDR=127.0.0.1:0", "DECKHAND_REDIS_URL=", "DECKHAND_CONFIG="+os.DevNull, "DECKHAND_MODEL=bench", "OPENAI_API_KEY=",
		"DECKHAND_DATA_DIR="+filepath.Join(s.dir, "data"), "DECKHAND_WORKSPACE="+filepath.Join(s.dir, "work"))
	s.env = append(s.env, env...)
	s.cmd = exec.CommandContext(ctx, e.binary, "serve")
	s.cmd.Env = s.env
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if rest, is := strings.CutPrefix(lines.Text(), "ready http="); is {
			s.addr, _, _ = strings.Cut(rest, " ")
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return s, nil
		}
	}
	_ = s.cmd.Wait()
	return nil, errors.New("deckhand serve did not get ready")
}

// stop ends the program as a service manager does, and says how long that took.
func (s *served) stop() time.Duration {
	began := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(30*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	_ = s.cmd.Wait()
	return time.Since(began)
}

// peak is the most memory that the program has resident for a while.
func (s *served) peak(ctx context.Context, d time.Duration) uint64 {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ends := time.After(d)
	var most uint64
	for {
		select {
		case <-ends:
			return most
		case <-ctx.Done():
			return most
		case <-tick.C:
			most = max(most, resident(s.cmd.Process.Pid))
		}
	}
}

// stalledConnections is how many requests nobody signed hang at once.
const stalledConnections = 600

// benchStalled measures what unsigned requests of a megabyte that never end cost.
func benchStalled(ctx context.Context, e *environment) ([]row, error) {
	far := slacktest.New(slacktest.Config{})
	defer far.Close()
	s, err := startServed(ctx, e, "stalled", "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "SLACK_BOT_TOKEN="+far.BotToken, "SLACK_SIGNING_SECRET=secret", "SLACK_API_URL="+far.URL()+"/api/")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	<-time.After(2 * time.Second) // idle
	before := resident(s.cmd.Process.Pid)
	const size = 1 << 20
	head := fmt.Sprintf("POST /slack/events HTTP/1.1\r\nHost: deckhand\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Slack-Request-Timestamp: %d\r\nX-Slack-Signature: v0=%064d\r\n\r\n", size, time.Now().Unix(), 0)
	body := bytes.Repeat([]byte("x"), size-2)
	var group sync.WaitGroup
	opened := make(chan net.Conn, stalledConnections)
	for range stalledConnections {
		group.Go(func() {
			c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", s.addr)
			if err != nil {
				return // it does not count
			}
			opened <- c
			_ = c.SetWriteDeadline(time.Now().Add(4 * time.Second))
			_, _ = io.WriteString(c, head)
			_, _ = c.Write(body)
		})
	}
	most := s.peak(ctx, 10*time.Second)
	group.Wait()
	n := len(opened)
	for range n {
		_ = (<-opened).Close()
	}
	grown := float64(most-min(most, before)) / (1 << 20)
	return []row{{name: fmt.Sprintf("%d unsigned requests of 1 MiB that never end", n), value: fmt.Sprintf("+%.0f MiB", grown), aim: "≤ +64 MiB",
		reached: grown <= 64 && n == stalledConnections}}, nil
}

// harms are answers of a model that would each have cost a process: the arguments of
// calls, by what the goal is.
var harms = map[string]func(r llmtest.Request) llmtest.Reply{
	"many calls": func(llmtest.Request) llmtest.Reply {
		var calls []llm.Call
		for i := range 300 {
			calls = append(calls, llm.Call{ID: strconv.Itoa(i), Name: "list_files", Arguments: `{"skip":[]}`})
		}
		return llmtest.Calls(calls...)
	},
	"long arguments": func(llmtest.Request) llmtest.Reply {
		return llmtest.Call("write_to_file", `{"path":"a.txt","text":"`+strings.Repeat("x", 48<<20)+`"}`)
	},
	"deep arguments": func(llmtest.Request) llmtest.Reply {
		return llmtest.Call("run_code", `{"code":"1","input":`+strings.Repeat("[", 9999)+strings.Repeat("]", 9999)+`}`)
	},
	"a chart": func(llmtest.Request) llmtest.Reply {
		values := strings.TrimSuffix(strings.Repeat("1,9,", 5000), ",")
		return llmtest.Call("plot", `{"kind":"line","title":"a","labels":[],"values":[`+values+`],"path":"a.png"}`)
	},
	"much output": func(llmtest.Request) llmtest.Reply {
		return llmtest.Call("run_code", `{"code":"let s='x'.repeat(1<<20); for (let i=0;i<4000;i++) console.log(s)"}`)
	},
	"multiplied artifacts": func(r llmtest.Request) llmtest.Reply {
		if at := strings.LastIndex(string(r.Body), "${artifact:"); at >= 0 {
			name := string(r.Body)[at : at+len("${artifact:}")+64]
			return llmtest.Call("calculator", encoded(map[string]any{"expression": strings.Repeat(name, 90)}))
		}
		return llmtest.Call("list_files", `{"skip":[]}`)
	},
}

// endless writes pieces of an answer for ever.
func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	piece := []byte(`data: {"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"note","arguments":"` + strings.Repeat("x", 4096) + `"}}]}}]}` + "\n\n")
	for r.Context().Err() == nil {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// hostile is an endpoint that does the harm which a goal names.
func hostile() http.Handler {
	scripted := llmtest.New(func(r llmtest.Request) llmtest.Reply {
		if r.Purpose == llm.Work {
			for name, harm := range harms {
				if bytes.Contains(r.Body, []byte("do "+name)) {
					return harm(r)
				}
			}
		}
		return answer(r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
		if err != nil {
			return
		}
		if bytes.Contains(text, []byte("do an endless answer")) && r.Header.Get("X-Deckhand-Purpose") == string(llm.Work) {
			endless(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		scripted.ServeHTTP(w, r)
	})
}

// benchHostile measures a serving program beside a model that does harm: its memory,
// and how long its end takes in the middle of that.
func benchHostile(ctx context.Context, e *environment) ([]row, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	far := &http.Server{Handler: hostile(), ReadHeaderTimeout: time.Minute}
	go func() { _ = far.Serve(l) }() // its end is Close's
	defer far.Close()
	s, err := startServed(ctx, e, "hostile", "OPENAI_BASE_URL=http://"+l.Addr().String()+"/v1")
	if err != nil {
		return nil, err
	}
	files := filepath.Join(s.dir, "work", "many")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return nil, err
	}
	for i := range 20_000 {
		if err := os.WriteFile(filepath.Join(files, fmt.Sprintf("a-file-with-a-rather-long-name-%06d.txt", i)), nil, 0o644); err != nil {
			return nil, err
		}
	}
	goals := []string{"do an endless answer"}
	for name := range harms {
		goals = append(goals, "do "+name, "do "+name+" again")
	}
	order := exec.CommandContext(ctx, e.binary, "run", "--detach", "--yes-to", "all", "-")
	order.Env, order.Stdin = s.env, strings.NewReader(strings.Join(goals, "\n")+"\n")
	if out, err := order.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ordering runs: %w: %s", err, out)
	}
	most := float64(s.peak(ctx, 30*time.Second)) / (1 << 20)
	took := s.stop()
	return []row{
		{name: fmt.Sprintf("serve beside a model that does harm, %d runs: most memory", len(goals)), value: fmt.Sprintf("%.0f MiB", most), aim: "≤ 256 MiB", reached: most > 0 && most <= 256},
		{name: "serve beside a model that does harm: shutdown", value: took.Round(10 * time.Millisecond).String(), aim: "≤ 10 s", reached: took <= 10*time.Second},
	}, nil
}
