package mcp

// This file is the server: what it offers, and the two ways in.

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Desk is the way in to the runs of a store.
type Desk interface {
	// Start writes a goal down.
	Start(ctx context.Context, goal string) (agent.RunID, error)
	Load(ctx context.Context, run agent.RunID) (agent.Run, error)
	// Await returns when the run has more than so many events.
	Await(ctx context.Context, run agent.RunID, after uint64) error
	// Newest lists the newest runs.
	Newest(ctx context.Context, most int) ([]agent.Run, error)
	Decide(ctx context.Context, by bot.Person, d agent.CheckpointDecided) error
	Control(ctx context.Context, run agent.RunID, by bot.Person, c agent.RunControlled) error
	// MayShow reports whether somebody may look at a run.
	MayShow(r agent.Run, by bot.Person) bool
	// Read reads a line as the answer to a question of the run.
	Read(r agent.Run, line, by string) (agent.CheckpointDecided, error)
	// Waits says what the run waits for, empty: nothing.
	Waits(r agent.Run) string
	// Open opens a file of a run's folder.
	Open(folder, path string) (io.ReadCloser, int64, error)
}

// Config says for whom the server speaks.
type Config struct {
	Desk    Desk
	By      bot.Person // who the other agent is to authority and budgets
	Version string
}

// instructions are what another agent is told about the server.
const instructions = "Deckhand is an autonomous agent that plans and works on goals, asks people where their word is needed, and reports. " +
	"Hand it a goal with run. Look with status, which waits for news where you ask it to; where a run waits, answer its questions with answer. " +
	"Files of a run are read with status and artifact, or as resources."

// New is the server.
func New(c Config) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "deckhand", Title: "Deckhand", Version: c.Version}, &sdk.ServerOptions{Instructions: instructions})
	h := host{c}
	open := true
	sdk.AddTool(s, &sdk.Tool{Name: "run", Description: "Hands a goal to Deckhand and returns its run. With wait, it returns when the run ended or asks something, or after so many seconds.",
		Annotations: &sdk.ToolAnnotations{OpenWorldHint: &open}}, h.run)
	sdk.AddTool(s, &sdk.Tool{Name: "status", Description: "Says where a run stands: its state, tasks, cost, open questions, and at the end its report with artifacts. Without a run it lists the newest ones. With artifact it returns that file.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, h.status)
	sdk.AddTool(s, &sdk.Tool{Name: "answer", Description: "Answers an open question of a run: with a decision among its choices, with text, or with one answer for each question."}, h.answer)
	sdk.AddTool(s, &sdk.Tool{Name: "cancel", Description: "Ends a run for good. What there is, is reported."}, h.cancel)
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "artifact", URITemplate: "deckhand://{run}/{+path}", Description: "A file of a run, by its path"}, h.resource)
	return s
}

// Serve speaks over a pair of streams until the input ends or ctx does.
func Serve(ctx context.Context, s *sdk.Server, in io.Reader, out io.Writer) error {
	reader, is := in.(io.ReadCloser)
	if !is {
		reader = io.NopCloser(in)
	}
	err := s.Run(ctx, &sdk.IOTransport{Reader: reader, Writer: unclosed{out}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil //nolint:nilerr // the other side is done
	}
	return err
}

// unclosed is a stream that belongs to somebody else.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// Bounds of requests over HTTP.
const (
	maxBody    = 4 << 20
	headerWait = 10 * time.Second
	lastWords  = 3 * time.Second
	// ShortestToken is how many characters a token has at least.
	ShortestToken = 16
)

// Handler answers over HTTP who has the token.
func Handler(s *sdk.Server, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(given))
		if !is || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the header Authorization: Bearer TOKEN is missing or wrong", http.StatusUnauthorized)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		inner.ServeHTTP(w, r)
	})
}

// Listen answers at the listener until ctx ends.
func Listen(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerWait}
	over := make(chan error, 1)
	go func() { over <- srv.Serve(l) }()
	select {
	case err := <-over:
		return fmt.Errorf("the server ended: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if srv.Shutdown(last) != nil {
		return srv.Close() // of streams that stay open as long as their client wants
	}
	return nil
}
