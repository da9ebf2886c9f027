package slack

import (
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/adapters/slack/draw"
)

// features are what the workspace was found not to be able to, for as long as
// the process lives.
type features struct {
	mu      sync.Mutex
	refused map[slackapi.MessageBlockType]bool // kinds of blocks
	mute    map[string]mute                    // methods
}

// mute is until when a method is left alone.
type mute struct {
	until   time.Time
	limited bool // it is there, and was called too often
}

func (f *features) init() {
	f.refused, f.mute = map[slackapi.MessageBlockType]bool{}, map[string]mute{}
}

// unknown are the kinds of blocks that the workspace was found not to know.
func (f *features) unknown() map[slackapi.MessageBlockType]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.refused)
}

// learn remembers kinds of blocks that the workspace does not know.
func (f *features) learn(log *slog.Logger, kinds []slackapi.MessageBlockType) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kind := range kinds {
		if !f.refused[kind] {
			f.refused[kind] = true
			log.Warn("the workspace does not know a kind of block; it is drawn with others from now on", "block", kind)
		}
	}
}

var pointer = regexp.MustCompile(`/blocks/(\d+)`)

// unknownIn are the modern kinds among the blocks that Slack points at, or all
// of them where it points at none.
func unknownIn(blocks []slackapi.Block, err error) []slackapi.MessageBlockType {
	var named, all []slackapi.MessageBlockType
	for _, at := range pointer.FindAllStringSubmatch(api.Reasons(err), -1) {
		if i, err := strconv.Atoi(at[1]); err == nil && i < len(blocks) {
			named = append(named, blocks[i].BlockType())
		}
	}
	for _, b := range blocks {
		all = append(all, b.BlockType())
	}
	if len(named) > 0 {
		all = named
	}
	all = slices.DeleteFunc(all, func(k slackapi.MessageBlockType) bool { return !draw.Modern[k] })
	slices.Sort(all)
	return slices.Compact(all)
}

// muted is for how long a method is left alone yet, and whether that is for its
// rate limit.
func (f *features) muted(method string) (left time.Duration, limited bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.mute[method]
	return time.Until(m.until), m.limited
}

// silence leaves a method alone for a while.
func (f *features) silence(method string, d time.Duration) {
	f.leave(method, mute{until: time.Now().Add(d)})
}

// limit leaves a method alone until it may be called again.
func (f *features) limit(method string, d time.Duration) {
	f.leave(method, mute{until: time.Now().Add(d), limited: true})
}

func (f *features) leave(method string, m mute) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mute[method] = m
}
