package discord

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"
)

// marks are how far what was said was heard: up to which id in each server and
// each direct conversation. A mark never passes a message that is still being
// written down or could not be.
type marks struct {
	mu    sync.Mutex
	areas map[string]*watermark
	whole bool // nothing is left to catch up
}

// watermark is the state of one server or conversation, in ids.
type watermark struct {
	newest int64
	open   map[int64]int  // being written down
	failed map[int64]bool // could not be
	saved  int64
}

func (m *marks) open() { m.areas = map[string]*watermark{} }

func (m *marks) of(area string) *watermark {
	w := m.areas[area]
	if w == nil {
		w = &watermark{open: map[int64]int{}, failed: map[int64]bool{}}
		m.areas[area] = w
	}
	return w
}

// areaOf is what a message counts for: ids grow over all channels of a server,
// and direct conversations have to be remembered one by one.
func areaOf(guild, channel string) string {
	if guild == "" {
		return directSpace + ":" + channel
	}
	return guild
}

// begin notes that a message arrived.
func (m *marks) begin(n *notice) {
	if numberOf(n.id) == 0 || n.reply != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(areaOf(n.guild, n.channel)).open[numberOf(n.id)]++
}

// end notes that it is written down, or is not.
func (m *marks) end(n *notice, ok bool) {
	id := numberOf(n.id)
	if id == 0 || n.reply != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.of(areaOf(n.guild, n.channel))
	if w.open[id]--; w.open[id] <= 0 {
		delete(w.open, id)
	}
	if !ok {
		w.failed[id] = true
		return
	}
	delete(w.failed, id)
	w.newest = max(w.newest, id)
}

// caughtUp notes that everything of an area up to an id was heard.
func (m *marks) caughtUp(area string, upTo int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.of(area)
	w.newest = max(w.newest, upTo)
	maps.DeleteFunc(w.failed, func(id int64, _ bool) bool { return id <= upTo })
}

// value is how far it was heard for certain.
func (w *watermark) value() int64 {
	v := w.newest
	for id := range w.open {
		v = min(v, id-1)
	}
	for id := range w.failed {
		v = min(v, id-1)
	}
	return max(v, 0)
}

func (m *marks) setWhole(whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.whole = whole
}

// sound reports whether everything that arrived was written down.
func (m *marks) sound() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.whole {
		return false
	}
	for _, w := range m.areas {
		if len(w.failed) > 0 {
			return false
		}
	}
	return true
}

// lowest is how far the areas were heard that did not all go well.
func (m *marks) lowest() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := map[string]int64{}
	for area, w := range m.areas {
		if len(w.failed) > 0 {
			list[area] = w.value()
		}
	}
	return list
}

// changed are the marks that moved since they were saved.
func (m *marks) changed() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := map[string]string{}
	for area, w := range m.areas {
		if v := w.value(); v > 0 && v != w.saved {
			w.saved = v
			list[area] = strconv.FormatInt(v, 10)
		}
	}
	return list
}

// unsaved marks an area as not saved.
func (m *marks) unsaved(area string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(area).saved = 0
}

// seenName is the name under which a store keeps how far an area was heard, and
// without an area, until when the bot was connected. Bots differ: a store may
// serve a new one after the old.
func (d *Discord) seenName(area string) string {
	name := "seen/" + Platform + ":" + d.botUser
	if area != "" {
		name += ":" + area
	}
	return name
}

// keepMarks saves the marks every few seconds.
func (d *Discord) keepMarks(ctx context.Context) {
	for pass(ctx, d.in.times.save) {
		d.saveMarks(ctx, d.connected())
	}
}

// saveMarks writes down how far was heard, and when all was well.
func (d *Discord) saveMarks(ctx context.Context, connected bool) {
	at := time.Now()
	for area, id := range d.in.marks.changed() {
		if err := d.cfg.Names.SetValue(ctx, d.seenName(area), id); err != nil {
			d.in.marks.unsaved(area)
			d.in.quiet.warn(d.log, "how far was read could not be saved", "error", err)
		}
	}
	if !connected || !d.in.marks.sound() {
		return
	}
	if err := d.cfg.Names.SetValue(ctx, d.seenName(""), strconv.FormatInt(idAt(at), 10)); err != nil {
		d.in.quiet.warn(d.log, "the time of the connection could not be saved", "error", err)
	}
}
