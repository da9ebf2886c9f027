package adaptertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	botauthority "github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// ordersVar makes the test binary a Deckhand that follows its orders.
const ordersVar = "DECKHAND_CHAT_ORDERS"

// orders are what a child is told.
type orders struct {
	Dir     string   `json:"dir"`    // of the store, the workspace and the record
	Ticket  string   `json:"ticket"` // to the far side
	At      boundary `json:"at"`
	From    int      `json:"from"` // the number of the first run to die in
	Workers int      `json:"workers"`
}

func (o orders) data() string      { return filepath.Join(o.Dir, "data") }
func (o orders) workspace() string { return filepath.Join(o.Dir, "workspace") }
func (o orders) deaths() string    { return filepath.Join(o.Dir, "deaths") }

// Child is Deckhand as the child of Crash. A platform's test calls it from a
// test whose name it gives to Crash; in any other process it does nothing.
func Child(t *testing.T, a Adapter) {
	t.Helper()
	text := os.Getenv(ordersVar)
	if text == "" {
		return
	}
	var o orders
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = serve(o, a)
	}
	t.Fatalf("the child ended by itself: %v", err)
}

// serve takes up work when a line arrives on standard input, and ends with the
// process that holds the other end.
func serve(o orders, a Adapter) error {
	gate := make(chan struct{})
	go func() {
		in := bufio.NewScanner(os.Stdin)
		if in.Scan() {
			close(gate)
		}
		in.Scan()
		os.Exit(0)
	}()
	<-gate
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Dir: o.data(), Lease: lease}, sqlite.Worker)
	if err != nil {
		return err
	}
	old, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	reaper := newReaper(o, old)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("pid", os.Getpid())
	platform, err := connect(ctx, a, o, Wiring{
		Names: store, Log: log, Client: &http.Client{Transport: &wire{RoundTripper: &http.Transport{}, sends: a.Sends, reaper: reaper}},
	})
	if err != nil {
		return err
	}
	d, err := assemble(parts{
		store: &witness{Store: store, reaper: reaper}, platform: platform, model: script{}, workspace: o.workspace(),
		workers: o.Workers, lease: lease, timeout: postTimeout / 2, log: log, rules: rules{
			Authority:    botauthority.Authority{RequesterMayApprove: true},
			PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky, Expires: time.Hour, CatchUp: 24 * time.Hour,
		},
	})
	if err != nil {
		return err
	}
	return d.run(ctx)
}

// How a child connects: it pauses as long as the far side asks for, else from
// the first pause to the last, and takes so long at most.
const (
	connectFirst  = 50 * time.Millisecond
	connectLast   = time.Second
	connectWithin = 30 * time.Second
)

// connect connects, and tries again while the far side is rude or busy.
func connect(ctx context.Context, a Adapter, o orders, w Wiring) (bot.Platform, error) {
	until := time.Now().Add(connectWithin)
	for pause := connectFirst; ; pause = min(2*pause, connectLast) {
		p, err := a.Open(ctx, o.Ticket, w)
		if err == nil || errors.Is(err, bot.ErrRefused) {
			return p, err
		}
		wait := pause
		if busy, is := errors.AsType[*bot.BusyError](err); is {
			wait = max(busy.After, pause)
		}
		if time.Until(until) < wait {
			return nil, fmt.Errorf("no connection within %s: %w", connectWithin, err)
		}
		w.Log.Warn("cannot connect; trying again", "pause", wait, "err", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		}
	}
}

// child is a Deckhand process.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{} // closed when it is gone
}

// spawn starts a child in reserve, that will die at the boundary. A child dies
// of SIGKILL alone: fell is told of one that ends in any other way.
func spawn(o orders, test string, words io.Writer, fell func(error)) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-test.run=^"+test+"$", "-test.timeout=1h")
	cmd.Env = append(os.Environ(), ordersVar+"="+string(text))
	cmd.Stdout, cmd.Stderr = words, words
	cmd.SysProcAttr = apart()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	c := &child{cmd: cmd, in: in, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		_ = cmd.Wait() // the state says the same
		if cmd.ProcessState.ExitCode() >= 0 {
			fell(fmt.Errorf("a child ended by itself (%s): its last words say why", cmd.ProcessState))
		}
	}()
	return c, nil
}

// open lets the child take up work.
func (c *child) open() error {
	_, err := io.WriteString(c.in, "go\n")
	return err
}

// kill ends the child with SIGKILL and waits until it is gone.
func (c *child) kill() {
	select {
	case <-c.done:
	default:
		_ = c.cmd.Process.Kill() // gone in this moment: no matter
	}
	<-c.done
	_ = c.in.Close() // the other end is gone
}
