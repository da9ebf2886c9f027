package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// verify looks for anything that was lost or repeated in a run that ended.
func (s *env) verify(ctx context.Context, run agent.RunID, f *figures) error {
	events, err := s.store.Read(ctx, run, 0)
	if err != nil {
		return fmt.Errorf("run %s: %w", run, err)
	}
	errs := []error{s.complete(run, events), s.givenBack(ctx, run), s.effectsOnce(run), s.filesOnce(run), s.acknowledged(run, events), refold(events)}
	effects, again, err := outcomesOnce(events)
	f.Add(crash.Tally{Runs: 1, Effects: effects, Seconds: again})
	errs = append(errs, s.snapshot(ctx, run, events, f))
	if err = errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("run %s: %w\n%s", run, err, crash.Journal(events))
	}
	return nil
}

// givenBack wants the run's share of the live runs given back, once.
func (s *env) givenBack(ctx context.Context, run agent.RunID) error {
	n, err := s.store.Spent(ctx, slot(run))
	if err == nil && n != 0 {
		err = fmt.Errorf("%d are counted live after its end", n)
	}
	return err
}

// complete wants a journal without a gap that ends well.
func (s *env) complete(run agent.RunID, events []agent.Event) error {
	for i, e := range events {
		if e.Seq != uint64(i+1) || e.Run != run {
			return fmt.Errorf("entry %d of the journal is %d of %s", i+1, e.Seq, e.Run)
		}
	}
	r := agent.Run{}.Fold(events)
	tasks := 3
	if r.Brief.Goal == longGoal {
		tasks = 4
	}
	if r.Ended == nil || r.Ended.State != agent.RunDone || r.Report == nil || len(r.Plan.Tasks) != tasks {
		return fmt.Errorf("it ended %+v with report %+v and %d tasks", r.Ended, r.Report, len(r.Plan.Tasks))
	}
	return nil
}

// effectsOnce wants the receiver to have got everything, and nothing twice.
func (s *env) effectsOnce(run agent.RunID) error {
	var errs []error
	for _, text := range append(append([]string{}, posts...), onces...) {
		if n := s.out.receiver.count(run, text); n != 1 {
			errs = append(errs, fmt.Errorf("the receiver got %q %d times", text, n))
		}
	}
	return errors.Join(errs...)
}

// filesOnce wants each line once, in whatever order.
func (s *env) filesOnce(run agent.RunID) error {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(s.workspace(), string(run), name))
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	log := read(logFile)
	got := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	for _, l := range lines {
		if strings.Count("\n"+log, "\n"+l+"\n") != 1 || len(got) != len(lines) {
			return fmt.Errorf("%s is %q", logFile, log)
		}
	}
	if table := read(tableFile); table != tableText {
		return fmt.Errorf("%s is %q", tableFile, table)
	}
	return nil
}

// acknowledged wants every commit that a store acknowledged to be where the
// receipt said.
func (s *env) acknowledged(run agent.RunID, events []agent.Event) error {
	all, err := crash.ReadRecord(s.record())
	if err != nil {
		return err
	}
	for _, e := range all {
		k := e.Kept
		if k == nil || k.Run != run {
			continue
		}
		if k.Seq > uint64(len(events)) || uint64(k.Events) > k.Seq {
			return fmt.Errorf("acknowledged up to entry %d, the journal ends at %d", k.Seq, len(events))
		}
		if part := events[k.Seq-uint64(k.Events) : k.Seq]; crash.Sum(part) != k.Sum {
			return fmt.Errorf("entries %d to %d are not what was acknowledged:\n%s", part[0].Seq, k.Seq, crash.Journal(part))
		}
	}
	return nil
}

// refold wants the fold to be the same by way of a snapshot at any seq.
func refold(events []agent.Event) error {
	whole := encode(agent.Run{}.Fold(events))
	r := agent.Run{}
	for i, e := range events {
		r = r.Apply(e)
		if i%7 != 3 && i != len(events)-1 { // each cut costs, and the runs differ
			continue
		}
		var kept agent.Run
		if err := json.Unmarshal(encode(r), &kept); err != nil {
			return fmt.Errorf("the snapshot at %d cannot be read: %w", e.Seq, err)
		}
		if again := encode(kept.Fold(events[i+1:])); !bytes.Equal(again, whole) {
			return fmt.Errorf("folded from the snapshot at %d it is\n%s\nand from the journal\n%s", e.Seq, again, whole)
		}
	}
	return nil
}

// snapshot wants the fold to be the same by way of the snapshot that a worker
// kept. Long runs have one.
func (s *env) snapshot(ctx context.Context, run agent.RunID, events []agent.Event, f *figures) error {
	seq, data, err := s.store.Snapshot(ctx, run)
	if err != nil {
		return err
	}
	whole := agent.Run{}.Fold(events)
	if seq == 0 {
		if whole.Brief.Goal == longGoal {
			return fmt.Errorf("a journal of %d events has no snapshot", len(events))
		}
		return nil
	}
	var kept struct{ Run agent.Run }
	if err := json.Unmarshal(data, &kept); err != nil || kept.Run.Seq != seq {
		return fmt.Errorf("the snapshot at %d is at %d: %w", seq, kept.Run.Seq, err)
	}
	if again := encode(kept.Run.Fold(events[seq:])); !bytes.Equal(again, encode(whole)) {
		return fmt.Errorf("folded from the kept snapshot at %d it is\n%s\nand from the journal\n%s", seq, again, encode(whole))
	}
	f.mu.Lock()
	f.snapshots++
	f.mu.Unlock()
	return nil
}

// outcomesOnce wants a second outcome of an effect to change nothing, and
// counts effects and second outcomes.
func outcomesOnce(events []agent.Event) (effects, again int, err error) {
	r, settled := agent.Run{}, map[agent.EffectID]bool{}
	for _, e := range events {
		before := r
		r = r.Apply(e)
		o, is := e.Body.(agent.ToolOutcome)
		if !is {
			continue
		}
		if settled[o.Effect] {
			again++
			before.Seq, before.Last = r.Seq, r.Last
			if !bytes.Equal(encode(before), encode(r)) {
				return len(settled), again, fmt.Errorf("the second outcome of %s at %d changes the run", o.Effect, e.Seq)
			}
		}
		settled[o.Effect] = true
	}
	if r.Spent.Tools != len(settled) {
		return len(settled), again, fmt.Errorf("%d effects were counted, %d have outcomes", r.Spent.Tools, len(settled))
	}
	return len(settled), again, nil
}
