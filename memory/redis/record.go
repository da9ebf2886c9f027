package redis

// Records: what is remembered. All are in one slot, so that a write of several
// is one step in a Cluster, too.

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// The keys of the records.
//
//	deckhand:{records}:data   hash   the records by id; what was removed is not there
//	deckhand:{records}:order  ZSET   ids by the seq of their last write, the removed ones, too
const (
	recordData  = "deckhand:{records}:data"
	recordOrder = "deckhand:{records}:order"
)

// WriteRecords implements agent.Records.
func (s *Store) WriteRecords(ctx context.Context, writes []agent.RecordWrite) ([]bool, error) {
	if err := memory.CheckRecords(writes); err != nil {
		return nil, fmt.Errorf("write records: %w: %w", agent.ErrPermanent, err)
	}
	if len(writes) == 0 {
		return nil, nil
	}
	args := make([]any, 0, 3*len(writes))
	for _, w := range writes {
		seen := "any"
		if w.Seen != agent.AnyRecord {
			seen = strconv.FormatUint(w.Seen, 10)
		}
		args = append(args, w.ID, seen, w.Data)
	}
	reply, err := s.pipe.run(ctx, &call{script: recordScript, keys: []string{recordData, recordOrder}, args: args, confirm: true})
	if err != nil {
		return nil, s.explain(ctx, "write records", err)
	}
	list, is := reply.([]any)
	if !is || len(list) != len(writes) {
		return nil, fmt.Errorf("write records: the reply is %v: %w", reply, agent.ErrDamaged)
	}
	applied := make([]bool, len(writes))
	for i, did := range list {
		applied[i] = did == int64(1)
	}
	return applied, nil
}

// recordsAtOnce is how many records one round trip reads.
const recordsAtOnce = 1000

// ReadRecords implements agent.Records.
func (s *Store) ReadRecords(ctx context.Context, after uint64, most int) (list []agent.RecordRow, state agent.RecordState, err error) {
	for most <= 0 || len(list) < most {
		count := recordsAtOnce
		if most > 0 {
			count = min(count, most-len(list))
		}
		page, now, err := s.readRecords(ctx, after, count)
		if err != nil {
			return nil, state, s.explain(ctx, "read records", err)
		}
		list, state = append(list, page...), now
		if len(page) < count {
			break
		}
		after = page[len(page)-1].Seq
	}
	return list, state, nil
}

func (s *Store) readRecords(ctx context.Context, after uint64, count int) (list []agent.RecordRow, state agent.RecordState, err error) {
	reply, err := s.pipe.run(ctx, &call{script: recordsScript, keys: []string{recordData, recordOrder}, args: []any{after, count}})
	if err != nil {
		return nil, state, err
	}
	values, is := reply.([]any)
	if !is || len(values) < 2 || len(values)%3 != 2 {
		return nil, state, fmt.Errorf("the reply is %v: %w", reply, agent.ErrDamaged)
	}
	head, err := strconv.ParseUint(fmt.Sprint(values[0]), 10, 64)
	if err != nil {
		return nil, state, fmt.Errorf("%w: %w", agent.ErrDamaged, err)
	}
	live, _ := values[1].(int64)
	state = agent.RecordState{Head: head, Live: int(live)}
	for i := 2; i < len(values); i += 3 {
		row := agent.RecordRow{ID: fmt.Sprint(values[i])}
		if row.Seq, err = strconv.ParseUint(fmt.Sprint(values[i+1]), 10, 64); err != nil {
			return nil, state, fmt.Errorf("%w: %w", agent.ErrDamaged, err)
		}
		if data, is := values[i+2].(string); is && data != "" {
			row.Data = []byte(data)
		}
		list = append(list, row)
	}
	return list, state, nil
}

var _ agent.Records = (*Store)(nil)

var (
	recordScript  = redis.NewScript(recordLua)
	recordsScript = redis.NewScript(recordsLua)
)
