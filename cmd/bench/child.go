package main

// This file starts the Redis server and the scripted model that the benches
// need. Each is a process of its own, so that its work is not counted as
// Deckhand's.

import (
	"bufio"
	"context"
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

var stepsWanted = regexp.MustCompile(`steps=(\d+)`)

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
		return llmtest.Call("submit_plan", `{"name":"Notes","tasks":[{"id":"t1","title":"Write the notes down","instructions":"note each","tools":["`+tool(r)+`"],`+
			`"outputs":[{"name":"out"}],"effort":1,"value":5,"acceptance":"all are noted","deliverable":true}]}`)
	case llm.Judge:
		return llmtest.Call("judge_task", `{"accepted":true}`)
	case llm.Report:
		return llmtest.Call("submit_report", `{"headline":"done","body":"all noted"}`)
	}
	n := 1
	if m := stepsWanted.FindStringSubmatch(r.Messages[1].Content); m != nil {
		n, _ = strconv.Atoi(m[1])
	}
	switch {
	case r.Turn < n && tool(r) == chatTool:
		return llmtest.Call(chatTool, `{"expression":"1+`+strconv.Itoa(r.Turn)+`"}`)
	case r.Turn < n:
		return llmtest.Call("note", `{"text":"step `+strconv.Itoa(r.Turn)+`"}`)
	}
	return llmtest.Call("finish_task", `{"summary":"noted","outputs":[{"name":"out","value":1}]}`)
}

// chatTool is what runs of the built program call: it has no tool named note.
const chatTool = "calculator"

// tool is what the run's steps call.
func tool(r llmtest.Request) string {
	if strings.Contains(r.Messages[1].Content, "calculate it all") {
		return chatTool
	}
	return "note"
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
