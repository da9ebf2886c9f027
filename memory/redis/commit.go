package redis

// This file packs a commit into the keys and arguments of one script, so that
// Redis writes all of it or nothing, and reads the script's reply.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

const (
	attemptTTL = memory.AttemptKept
	onceTTL    = memory.OnceKept
)

// errReply is returned for a reply that no script of this build gives.
var errReply = fmt.Errorf("a script's reply cannot be read; do replicas of different builds share this Redis? %w", agent.ErrPermanent)

// errFits is the answer to a commit that was only asked about.
var errFits = errors.New("the commit fits")

// Commit implements agent.Store. Errors other than the contract's five are of
// the connection (or ErrReplicas): the same commit may be sent again.
func (s *Store) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	p, err := s.pack(c)
	if err != nil {
		return agent.Receipt{}, err
	}
	if s.cluster {
		if err := (mover{s}).usedBefore(ctx, c.Once); err != nil {
			return agent.Receipt{}, err
		}
		if len(c.Once)+len(p.elsewhere.spends)+len(p.elsewhere.names) > 0 {
			return reserver{s}.commitCluster(ctx, c, p)
		}
	}
	return s.send(ctx, p, false)
}

// packed is a commit as the script takes it.
type packed struct {
	run     agent.RunID
	events  []string
	wakes   []string // strand, time, strand, …
	once    []string // keys
	spends  []agent.Spend
	keys    []string // without those of once and spends
	args    []any    // without options, counts and lists
	options string
	names   []any  // name, value, name, …
	attempt string // the key that the attempt is known by
	// elsewhere is what is in other shards of a Cluster.
	elsewhere struct {
		once   []string
		spends []agent.Spend
		names  map[string]string
	}
}

// pack encodes a commit. In a Cluster, what is in other shards is left out of
// the script.
func (s *Store) pack(c agent.Commit) (packed, error) {
	if err := memory.Check(c); err != nil {
		return packed{}, err
	}
	if strings.Contains(string(c.Run), "/") {
		return packed{}, fmt.Errorf("commit to run %q: %w: a run id may not contain a slash", c.Run, memory.ErrMalformed)
	}
	n := s.home(c)
	p := packed{run: c.Run, spends: c.Spend, attempt: s.attempt(n, c.Run, c.ID)}
	p.keys = []string{s.due(n), s.in(n, c.Run, "run"), s.in(n, c.Run, "journal"), s.idle(n)}
	names := c.Set
	if s.cluster {
		p.once, p.elsewhere.once = s.splitOnce(c, n)
		p.spends, p.elsewhere.spends = splitSpends(c)
		names, p.elsewhere.names = s.splitNames(c.Set, n)
	} else {
		p.once, _ = s.splitOnce(c, 0)
	}
	var err error
	if p.names, err = nameArgs(names); err == nil {
		_, err = nameArgs(p.elsewhere.names)
	}
	if err != nil {
		return packed{}, fmt.Errorf("commit to run %s: %w: %w", c.Run, memory.ErrMalformed, err)
	}
	var lease agent.Lease
	if c.Lease != nil {
		lease = *c.Lease
	}
	p.args = []any{
		string(c.Run), c.ID, string(lease.Strand), lease.Epoch, lease.Turn, seen(c), s.lease.Microseconds(),
	}
	s.addOptions(&p, c, n)
	for _, e := range c.Events {
		line, err := entryTail(e)
		if err != nil {
			return packed{}, fmt.Errorf("commit to run %s: %w: %w", c.Run, memory.ErrMalformed, err)
		}
		p.events = append(p.events, line)
	}
	for strand, at := range c.Wake {
		p.wakes = append(p.wakes, string(strand), wakeTime(at))
	}
	return p, nil
}

// seen is what the commit's writer had folded, as the script takes it.
func seen(c agent.Commit) string {
	if c.Seen == agent.SeenAll {
		return "*"
	}
	text := strconv.FormatUint(c.Seen, 10)
	if c.Seen > 0 && !c.SeenAt.IsZero() {
		text += " " + strconv.FormatInt(c.SeenAt.UnixMicro(), 10)
	}
	return text
}

// addOptions adds the letters that script/commit.lua knows a commit's options by,
// and the keys that they ask for, in the script's order.
func (s *Store) addOptions(p *packed, c agent.Commit, shard int) {
	ask := func(letter, key string) {
		p.options += letter
		p.keys = append(p.keys, key)
	}
	if memory.Starts(c) {
		ask("r", s.runs(shard))
	}
	if c.Lease == nil || len(p.elsewhere.once) > 0 {
		ask("f", p.attempt)
	}
	if c.Ends {
		ask("e", s.ended(shard))
	}
	if s.stampDue(shard) {
		ask("a", s.alive(shard))
	}
	if len(p.names) > 0 {
		ask("n", s.names(shard))
	}
	if len(p.elsewhere.once) > 0 {
		p.options += "h"
	}
	if c.Strict {
		p.options += "s"
	}
	if slices.ContainsFunc(c.Events, func(e agent.Event) bool { return agent.IsWord(e.Body) }) {
		p.options += "w"
	}
	if needs := agent.Needs(c.Events); needs > 0 {
		p.options += strconv.Itoa(needs)
	}
}

// entryTail is an entry of a journal behind its seq and stamp, which the
// script puts in front.
func entryTail(e agent.Event) (string, error) {
	body, err := agent.EncodeBody(e.Body)
	if err != nil {
		return "", err
	}
	strand, err := json.Marshal(e.Strand)
	if err != nil {
		return "", fmt.Errorf("strand %q: %w", e.Strand, err)
	}
	kind, err := json.Marshal(e.Body.Kind())
	if err != nil {
		return "", fmt.Errorf("kind %q: %w", e.Body.Kind(), err)
	}
	var b strings.Builder
	b.Grow(len(body) + len(strand) + len(kind) + 40)
	b.WriteString(`,"strand":`)
	b.Write(strand)
	b.WriteString(`,"kind":`)
	b.Write(kind)
	b.WriteString(`,"v":` + strconv.Itoa(agent.Version(e.Body)) + `,"body":`)
	b.Write(body)
	b.WriteString("}")
	return b.String(), nil
}

func wakeTime(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return strconv.FormatInt(max(at.UnixMicro(), 0), 10)
}

// send runs the script. To ask only whether the commit fits returns errFits
// where it does.
func (s *Store) send(ctx context.Context, p packed, ask bool) (agent.Receipt, error) {
	keys, args := p.keys, p.args
	options := p.options
	if ask {
		options += "q"
	}
	args = append(args, options, len(p.events), len(p.wakes)/2, len(p.once), len(p.spends))
	for _, e := range p.events {
		args = append(args, e)
	}
	for _, w := range p.wakes {
		args = append(args, w)
	}
	keys = append(keys, p.once...)
	for _, spend := range p.spends {
		key, field := s.counter(spend.Counter)
		keys = append(keys, key)
		args = append(args, field, spend.Nano, spend.Limit)
	}
	args = append(args, p.names...)
	reply, err := s.pipe.run(ctx, &call{script: commitScript, keys: keys, args: args, confirm: true})
	if err != nil {
		return agent.Receipt{}, s.explain(ctx, "commit to run "+string(p.run), err)
	}
	return receipt(reply, p)
}

// refusals are what the script answers a commit with that it does not write.
var refusals = map[string]error{
	"empty":    fmt.Errorf("the run has no events, and the first must be run.started: %w", agent.ErrNoRun),
	"conflict": agent.ErrConflict,
	"stale":    agent.ErrStale,
	"seen":     agent.ErrSeen,
	"lost":     agent.ErrLost,
	"busy":     agent.ErrBusy,
}

// receipt reads the script's reply: a word, and the numbers that belong to it.
func receipt(reply any, p packed) (agent.Receipt, error) {
	word, numbers := taken(reply)
	if word != "ok" {
		return agent.Receipt{}, refusal(word, numbers, p)
	}
	if len(numbers) != 2 && len(numbers) != 3 {
		return agent.Receipt{}, errReply
	}
	r := agent.Receipt{Seq: uint64(numbers[0]), At: stampTime(numbers[1])}
	if len(numbers) == 3 && numbers[2] > 0 {
		r.Before = stampTime(numbers[2])
	}
	return r, nil
}

// taken takes a reply apart; the word is empty where it is something else.
func taken(reply any) (word string, numbers []int64) {
	list, _ := reply.([]any)
	if len(list) == 0 {
		return "", nil
	}
	for _, v := range list[1:] {
		n, ok := v.(int64)
		if !ok {
			return "", nil
		}
		numbers = append(numbers, n)
	}
	word, _ = list[0].(string)
	return word, numbers
}

// refusal is the error of a commit that was not written.
func refusal(word string, numbers []int64, p packed) error {
	// names reports whether the reply is a place in a list of so many.
	names := func(most int) bool { return len(numbers) == 1 && numbers[0] >= 0 && int(numbers[0]) < most }
	switch {
	case word == "fits":
		return errFits
	case word == "budget" && names(len(p.spends)):
		return fmt.Errorf("commit to run %s: %w", p.run, &agent.BudgetError{Counter: p.spends[numbers[0]].Counter})
	case word == "held" && names(len(p.once)):
		return &heldError{key: p.once[numbers[0]]}
	case word == "damaged" && len(numbers) == 2:
		return fmt.Errorf("commit to run %s: its journal has %d entries and its head says %d: %w", p.run, numbers[0], numbers[1], agent.ErrDamaged)
	case refusals[word] != nil:
		return fmt.Errorf("commit to run %s: %w", p.run, refusals[word])
	}
	return errReply
}

// stampTime is a time of the server's clock, which counts in microseconds.
func stampTime(micro int64) time.Time { return time.UnixMicro(micro).UTC() }
