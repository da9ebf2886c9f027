package main

// This file starts the Redis server and the scripted model that the benches
// need. Each is a process of its own, so that its work is not counted as
// Deckhand's.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// server is a child process with an address.
type server struct {
	url string
	cmd *exec.Cmd
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// startRedis starts a redis-server with AOF everysec on a free port.
func startRedis(dir string) (*server, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("redis-server is needed (make setup installs it): %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err := errors.Join(err, l.Close()); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "redis")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--dir", data,
		"--appendonly", "yes", "--appendfsync", "everysec", "--save", "")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{url: "redis://127.0.0.1:" + port, cmd: cmd}
	c := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:" + port})
	defer c.Close()
	deadline := time.Now().Add(10 * time.Second)
	for c.Ping(context.Background()).Err() != nil {
		if time.Now().After(deadline) {
			s.stop()
			return nil, errors.New("redis-server does not answer within 10 s")
		}
		<-time.After(10 * time.Millisecond)
	}
	return s, nil
}

// modelRole is how this program is started as the model's endpoint, in a
// process of its own so that its work is not counted as the engine's.
const modelRole = "model"

// startModel starts the endpoint; faults in percent of the requests.
func startModel(delay time.Duration, faults int) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, modelRole)
	cmd.Env = append(os.Environ(), "BENCH_DELAY="+delay.String(), "BENCH_FAULTS="+strconv.Itoa(faults))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the model's endpoint did not start: %w", err)
	}
	return &server{url: strings.TrimSpace(line), cmd: cmd}, nil
}

// wanted finds what a goal says about the steps of a task and the tasks of a plan.
var wanted = regexp.MustCompile(`(steps|tasks)=(\d+)`)

// numberOf is what the request's goal says, or the default.
func numberOf(r llmtest.Request, what string, n int) int {
	for _, m := range wanted.FindAllStringSubmatch(r.Messages[1].Content, -1) {
		if m[1] == what {
			n, _ = strconv.Atoi(m[2])
			return n
		}
	}
	return n
}

// serveModel answers as a model that plans one task of as many tool calls as
// the goal says.
func serveModel() {
	delay, _ := time.ParseDuration(os.Getenv("BENCH_DELAY"))
	faults, _ := strconv.Atoi(os.Getenv("BENCH_FAULTS"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s/v1\n", l.Addr())
	err = http.Serve(l, llmtest.New(func(r llmtest.Request) llmtest.Reply {
		reply := answer(r)
		reply.Delay = delay
		return faulty(r, reply, faults)
	}))
	fmt.Fprintln(os.Stderr, err)
}

func answer(r llmtest.Request) llmtest.Reply {
	switch r.Purpose {
	case llm.Intake:
		return llmtest.Call("submit_plan", planned(numberOf(r, "tasks", 0)))
	case llm.Judge:
		return llmtest.Call("judge_task", `{"accepted":true}`)
	case llm.Report:
		return llmtest.Call("submit_report", `{"headline":"done","body":"all noted"}`)
	}
	n := numberOf(r, "steps", 1)
	switch {
	case r.Turn < n && calculates(r):
		return llmtest.Call("calculator", `{"expression":"1+`+strconv.Itoa(r.Turn)+`"}`)
	case r.Turn < n:
		return llmtest.Call("note", `{"text":"step `+strconv.Itoa(r.Turn)+`"}`)
	}
	return llmtest.Call("finish_task", `{"summary":"noted","outputs":[{"name":"out_`+r.Task+`","value":1}]}`)
}

// planned is a plan of one task, or of n side by side and one behind them. No
// task names tools: it may use what there is.
func planned(n int) string {
	task := func(id string, after []string) map[string]any {
		return map[string]any{"id": id, "title": "Write down the notes of " + id, "instructions": "note each of " + id, "depends_on": after,
			"outputs": []map[string]any{{"name": "out_" + id}}, "effort": 1, "value": 5, "acceptance": "all of " + id + " are noted", "deliverable": len(after) > 0 || n == 0}
	}
	if n == 0 {
		return encoded(map[string]any{"name": "Notes", "tasks": []any{task("t1", []string{})}})
	}
	var ids []string
	var tasks []any
	for i := range n {
		ids = append(ids, "t"+strconv.Itoa(i+1))
		tasks = append(tasks, task(ids[i], []string{}))
	}
	return encoded(map[string]any{"name": "Notes", "tasks": append(tasks, task("last", ids))})
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return string(b)
}

// calculates reports whether the run's steps are the calculator's: the built
// program has no tool named note.
func calculates(r llmtest.Request) bool {
	return strings.Contains(r.Messages[1].Content, "calculate it all")
}

// faulty spoils a share of the answers: a third each are a 500, arguments that
// are no JSON, and a connection that is cut.
func faulty(r llmtest.Request, reply llmtest.Reply, percent int) llmtest.Reply {
	switch k := r.N % 100; {
	case k < percent:
		return llmtest.Broken()
	case k < 2*percent && len(reply.Calls) > 0:
		reply.Calls[0].Arguments = `{"text": "step`
	case k < 3*percent:
		return llmtest.Cut(reply, 120)
	}
	return reply
}
