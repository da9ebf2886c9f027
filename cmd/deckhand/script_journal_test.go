package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // the driver, for looking into the embedded store as people's scripts do

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// await looks into the store: the run may be worked by any process, and one more
// process for each look would keep it from its work. What the command line then
// prints is what a script goes on with.
func await(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 2, "await RUN REGEXP [VAR]")
	re := pattern(ts, args[1])
	var store app.OpenedStore
	var err error
	var seen bytes.Buffer
	defer func() {
		if store != nil {
			ts.Check(store.Close())
		}
	}()
	if !poll(func() bool {
		if store == nil {
			store, err = beside(ts)
		}
		if store == nil {
			return false
		}
		seen.Reset()
		err = (&cli{out: &seen}).printJournal(context.Background(), store, agent.RunID(args[0]))
		return re.Match(seen.Bytes())
	}) {
		ts.Fatalf("the journal of %s never shows %q (%v):\n%s", args[0], args[1], err, seen.Bytes())
	}
	err = ts.Exec("deckhand", "journal", args[0])
	if !matches(ts, re, ts.ReadFile("stdout"), args[2:]) {
		ts.Fatalf("`deckhand journal %s` does not show %q (%v)", args[0], args[1], err)
	}
}

// beside opens the script's store as a command does that looks into it.
func beside(ts *testscript.TestScript) (app.OpenedStore, error) {
	file := ts.Getenv("DECKHAND_CONFIG")
	if _, err := os.Stat(ts.MkAbs("deckhand.yaml")); file == "" && err == nil {
		file = "deckhand.yaml"
	}
	if file != "" {
		file = ts.MkAbs(file)
	}
	c, err := config.Load(config.Flags{Config: file, DataDir: ts.MkAbs(ts.Getenv("DECKHAND_DATA_DIR"))}, ts.Getenv)
	if err != nil {
		return nil, err
	}
	return app.OpenStore(context.Background(), c, sqlite.Guest, nil)
}

func find(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 3, "find FILE REGEXP VAR")
	if !matches(ts, pattern(ts, args[1]), ts.ReadFile(args[0]), args[2:]) {
		ts.Fatalf("no %q in %s", args[1], args[0])
	}
}

// line is one line of a journal.
type line struct {
	Run    string          `json:"run"`
	Strand string          `json:"strand"`
	Seq    uint64          `json:"seq"`
	At     time.Time       `json:"at"`
	Kind   string          `json:"kind"`
	V      int             `json:"v"` // of the body, where it needs a newer reader than version 1
	Body   json.RawMessage `json:"body"`
}

func journalLines(text string) ([]line, error) {
	var list []line
	for i, row := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var l line
		dec := json.NewDecoder(strings.NewReader(row))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&l); err != nil {
			return nil, fmt.Errorf("line %d: %w: %s", i+1, err, row)
		}
		list = append(list, l)
	}
	return list, nil
}

var (
	runID    = regexp.MustCompile(`^[A-Za-z0-9_-]{6,40}$`)
	strandID = regexp.MustCompile(`^(main|voice|task/.+|agent/.+)$`)
)

// promised are the fields of each kind that the contract names.
var promised = map[string][]string{
	"run.started": {"goal"}, "plan.accepted": {"plan"}, "task.started": {"task"}, "task.ended": {"task", "state", "outputs"},
	"model.answered": {"purpose", "model", "prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "prompt_hash"},
	"tool.intent":    {"effect", "tool", "arguments"}, "tool.outcome": {"effect", "state", "trust"},
	"checkpoint.opened":  {"id", "checkpoint_kind", "title", "choices", "expires"},
	"checkpoint.decided": {"id", "decision", "by", "text"},
	"budget.notice":      {"kind", "percent"}, "report": {"headline", "body", "artifacts", "skipped"},
	"run.ended": {"state", "cost_usd", "prompt_tokens", "completion_tokens", "model_calls"},
}

func wellformed(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 1, "wellformed FILE")
	list, err := journalLines(ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(shape(list))
	ts.Check(figures(list))
}

// shape checks each line for itself, and that none is missing.
func shape(list []line) error {
	for i, l := range list {
		switch {
		case l.Seq != uint64(i+1):
			return fmt.Errorf("line %d has seq %d", i+1, l.Seq)
		case !runID.MatchString(l.Run) || l.Run != list[0].Run:
			return fmt.Errorf("line %d: run %q", l.Seq, l.Run)
		case !strandID.MatchString(l.Strand):
			return fmt.Errorf("line %d: strand %q", l.Seq, l.Strand)
		case l.At.IsZero() || i > 0 && l.At.Before(list[i-1].At):
			return fmt.Errorf("line %d: at %s", l.Seq, l.At)
		case l.V == 1 || l.V < 0:
			return fmt.Errorf("line %d: v %d, and version 1 goes without saying", l.Seq, l.V)
		}
		var body map[string]json.RawMessage
		if err := json.Unmarshal(l.Body, &body); err != nil {
			return fmt.Errorf("line %d: body: %w", l.Seq, err)
		}
		for _, field := range promised[l.Kind] {
			if _, there := body[field]; !there {
				return fmt.Errorf("line %d: %s without %q: %s", l.Seq, l.Kind, field, l.Body)
			}
		}
	}
	if list[0].Kind != "run.started" {
		return fmt.Errorf("the first line is %s", list[0].Kind)
	}
	return nil
}

// figures compares the end of the run with the sum of its calls.
func figures(list []line) error {
	type figure struct {
		Cost       *json.Number `json:"cost_usd"`
		Prompt     int          `json:"prompt_tokens"`
		Completion int          `json:"completion_tokens"`
		Calls      int          `json:"model_calls"`
	}
	var sum, end figure
	var nano int64
	unpriced, ended := false, false
	for _, l := range list {
		var f figure
		switch l.Kind {
		case "model.answered":
			if err := json.Unmarshal(l.Body, &f); err != nil {
				return err
			}
			sum.Prompt, sum.Completion, sum.Calls = sum.Prompt+f.Prompt, sum.Completion+f.Completion, sum.Calls+1
			unpriced = unpriced || f.Cost == nil
			if f.Cost != nil {
				nano += nanoOf(f.Cost)
			}
		case "run.ended":
			ended = true
			if err := json.Unmarshal(l.Body, &end); err != nil {
				return err
			}
		}
	}
	if !ended {
		return nil // it goes on
	}
	if sum.Prompt != end.Prompt || sum.Completion != end.Completion || sum.Calls != end.Calls {
		return fmt.Errorf("the calls add up to %+v, run.ended says %+v", sum, end)
	}
	if unpriced != (end.Cost == nil) || !unpriced && nano != nanoOf(end.Cost) {
		return fmt.Errorf("the calls cost %d billionths (unpriced: %v), run.ended says %v", nano, unpriced, end.Cost)
	}
	return nil
}

// nanoOf reads dollars as billionths, exactly.
func nanoOf(n *json.Number) int64 {
	f, err := n.Float64()
	if err != nil {
		return -1
	}
	return int64(f*1e9 + 0.5)
}

func soon(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 4, "soon RUN KIND KIND DURATION")
	within, err := time.ParseDuration(args[3])
	ts.Check(err)
	ts.Check(ts.Exec("deckhand", "journal", args[0]))
	list, err := journalLines(ts.ReadFile("stdout"))
	ts.Check(err)
	i := slices.IndexFunc(list, func(l line) bool { return l.Kind == args[1] })
	if i < 0 {
		ts.Fatalf("no %s in the journal", args[1])
	}
	j := slices.IndexFunc(list[i:], func(l line) bool { return l.Kind == args[2] })
	if j < 0 {
		ts.Fatalf("no %s after %s", args[2], args[1])
	}
	if took := list[i+j].At.Sub(list[i].At); took > within {
		ts.Fatalf("%s came %s after %s, want %s", args[2], took, args[1], within)
	}
}

// sqlCommand looks into the embedded store's file, or changes it.
func sqlCommand(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 1, "sql STATEMENT")
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("DECKHAND_DATA_DIR"), "deckhand.db"))
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	rows, err := db.Query(strings.Join(args, " "))
	ts.Check(err)
	defer rows.Close()
	names, err := rows.Columns()
	ts.Check(err)
	for rows.Next() {
		cells := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		ts.Check(rows.Scan(into...))
		for i, c := range cells {
			fmt.Fprintf(ts.Stdout(), "%s=%s ", names[i], c.String)
		}
		fmt.Fprintln(ts.Stdout())
	}
	ts.Check(rows.Err())
}

// fetch is the body and the status of a page; a server that is not there has none.
func fetch(url string) (body string, status int, err error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Get(url)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), resp.StatusCode, err
}

func get(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 2, "get URL CODE")
	body, status, err := fetch(args[0])
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), body)
	if strconv.Itoa(status) != args[1] {
		ts.Fatalf("%s: %d, want %s", args[0], status, args[1])
	}
}

func becomes(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 3, "becomes URL CODE REGEXP")
	re := pattern(ts, args[2])
	var body string
	var status int
	var err error
	if !poll(func() bool {
		body, status, err = fetch(args[0])
		return strconv.Itoa(status) == args[1] && re.MatchString(body)
	}) {
		ts.Fatalf("%s never becomes %s with %q, but %d (%v): %s", args[0], args[1], args[2], status, err, body)
	}
}

// redisServer is the part of redistest.Server that scripts use.
type redisServer interface {
	Kill()
	Restart()
	Freeze()
	Thaw()
	Ask(command string) (string, error)
}

func redisCommand(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 1, "redis start|kill|restart|freeze|thaw|ask COMMAND")
	r := rigOf(ts)
	switch args[0] {
	case "start":
		s := redistest.Start(r.tb)
		r.redis = s
		ts.Setenv("DECKHAND_REDIS_URL", s.URL)
	case "kill":
		r.redis.Kill()
	case "restart":
		r.redis.Restart()
	case "freeze":
		r.redis.Freeze()
	case "thaw":
		r.redis.Thaw()
	case "ask":
		_, err := r.redis.Ask(strings.Join(args[1:], " "))
		ts.Check(err)
	default:
		ts.Check(errors.New("unknown word " + args[0]))
	}
}
