package redis

// Every key, and what it holds.

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// The versions of what these keys hold. One is stored at the first start; a
// build refuses data of another layout, but for a Cluster's of layout 1, which
// it moves (see move.go).
const (
	layout        = "1"
	clusterLayout = "2" // names and once-keys are in the shards of their anchors
)

const (
	metaKey = "deckhand:meta" // hash: layout, shards
	bell    = "deckhand:bell" // channel: "" something is due, RUN its journal grew, wordTopic+RUN so by a word

	namesKey = "deckhand:names"

	trailKey = "deckhand:{trail}"
)

// keys names every key. In a Cluster all keys of one script must be in one
// slot, so what belongs to a run carries the tag of the run's shard in braces.
//
//	deckhand:{N}:due              ZSET   RUN/STRAND by due time, in µs of the store's clock; a run id has no slash
//	deckhand:{N}:run:RUN          hash   head "SEQ AT", started, ended, watched (somebody awaits it), needs (the generation of builds that its events need), strand:NAME (see script/strand.lua)
//	deckhand:{N}:journal:RUN      list   one JSON line an event
//	deckhand:{N}:snapshot:RUN     hash   seq, data
//	deckhand:{N}:artifacts:RUN    hash   the run's artifacts, by hash
//	deckhand:{N}:spent:RUN        hash   the run's own counters, by name
//	deckhand:{N}:attempt:RUN:ID   string receipt "SEQ AT" of a fact, for a day; in a Cluster also of what held once-keys of other shards, for 8 days, and "void" where it may not be written any more
//	deckhand:{N}:runs             ZSET   runs by start time
//	deckhand:{N}:live             ZSET   runs that have not ended, by start time (see script/live.lua)
//	deckhand:{N}:ended            ZSET   ended runs by the time of their end
//	deckhand:{N}:alive            string "SEEN BACK": when a worker was last heard, and when the last outage ended ({0} alone where there is no Cluster)
//	deckhand:{N}:clock            string "TIME WALL": the store's time and the server's at the last stamp (where alive is; see script/strand.lua)
//	deckhand:{N}:idle             string somebody waits for work ({0} alone where there is no Cluster)
//	deckhand:once:KEY             string attempt that used the key; in a Cluster deckhand:{N}:once:KEY, or "held ATTEMPT-KEY" before the attempt is written
//	deckhand:{counter/NAME}       string a counter that is no run's own, until it has not changed for two months
//	HOME:held:ATTEMPT:I           string a Cluster's reservation on counter HOME, for a day
//	deckhand:blob:HASH            string an artifact, for replicas of an older build
//	deckhand:names                ZSET   names and their values, at score 0 (see script/name.lua); in a Cluster deckhand:{N}:names
//	deckhand:{trail}             hash   the lines of the trail by number, and end: the last one's
//	deckhand:{endpoint/NAME}      hash   what was taken of an endpoint's limits, and who waits (see script/admit.lua)
//	deckhand:{endpoint/NAME}:line ZSET   its line
//	deckhand:{pace/NAME}          string when all turns taken will have been earned, in µs of the store's clock; expires then
type keys struct {
	tags  []string // "deckhand:{N}:" by shard
	slots bool     // a Cluster: keys of several shards are in several slots
}

func newKeys(shards int, cluster bool) keys {
	k := keys{slots: cluster}
	for n := range shards {
		k.tags = append(k.tags, "deckhand:{"+strconv.Itoa(n)+"}:")
	}
	return k
}

// shard is the run's shard: FNV-1a (32 bit) of the id, modulo the number of
// shards. It is part of the layout.
func (k keys) shard(run agent.RunID) int { return k.shardOf(string(run)) }

func (k keys) shardOf(text string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return int(h.Sum32() % uint32(len(k.tags)))
}

// home is the shard that a commit is written in: its run's, or that of its
// anchor, first once-key or a name where it has no run.
func (k keys) home(c agent.Commit) int {
	switch {
	case c.Run != "" || !k.slots:
		return k.shard(c.Run)
	case c.Anchor != "":
		return k.shardOf(c.Anchor)
	case len(c.Once) > 0:
		return k.shardOf(c.Once[0])
	}
	for name := range c.Set {
		return k.nameShard(name)
	}
	return k.shard(c.Run)
}

// once is a once-key's key and, in a Cluster, its shard: the anchor's, or
// without one its own.
func (k keys) once(anchor, name string) (key string, shard int) {
	if !k.slots {
		return oldOnceKey(name), 0
	}
	if shard = k.shardOf(anchor); anchor == "" {
		shard = k.shardOf(name)
	}
	return k.tags[shard] + "once:" + name, shard
}

// nameShard is the shard of a name in a Cluster.
func (k keys) nameShard(name string) int { return k.shardOf(agent.AnchorOf(name)) }

// names is the key of a shard's names.
func (k keys) names(shard int) string {
	if !k.slots {
		return namesKey
	}
	return k.tags[shard] + "names"
}

// nameShards are the shards in which names with the prefix may be.
func (k keys) nameShards(prefix string) []int {
	switch {
	case !k.slots:
		return []int{0}
	case strings.Count(prefix, "/") >= 2: // it has all of the anchor
		return []int{k.nameShard(prefix)}
	}
	return rotated(len(k.tags), 0)
}

func (k keys) due(shard int) string   { return k.tags[shard] + "due" }
func (k keys) runs(shard int) string  { return k.tags[shard] + "runs" }
func (k keys) live(shard int) string  { return k.tags[shard] + "live" }
func (k keys) ended(shard int) string { return k.tags[shard] + "ended" }

// runPrefix is what scripts that meet many runs put before a run's id.
func (k keys) runPrefix(shard int) string { return k.tags[shard] + "run:" }

// presenceShard is the shard whose keys alive and idle are meant: in a Cluster each has
// its own, as one script may touch only one slot.
func (k keys) presenceShard(shard int) int {
	if k.slots {
		return shard
	}
	return 0
}

func (k keys) alive(shard int) string { return k.tags[k.presenceShard(shard)] + "alive" }
func (k keys) idle(shard int) string  { return k.tags[k.presenceShard(shard)] + "idle" }

func (k keys) of(run agent.RunID, what string) string { return k.in(k.shard(run), run, what) }

func (k keys) in(shard int, run agent.RunID, what string) string {
	return k.tags[shard] + what + ":" + string(run)
}

func (k keys) run(run agent.RunID) string      { return k.of(run, "run") }
func (k keys) journal(run agent.RunID) string  { return k.of(run, "journal") }
func (k keys) snapshot(run agent.RunID) string { return k.of(run, "snapshot") }
func (k keys) artifacts(run agent.RunID) string {
	return k.of(run, "artifacts")
}
func (k keys) spent(run agent.RunID) string { return k.of(run, "spent") }

func (k keys) attempt(shard int, run agent.RunID, id string) string {
	return k.in(shard, run, "attempt") + ":" + id
}

func blobKey(hash string) string { return "deckhand:blob:" + hash }
func paceKey(name string) string { return "deckhand:{pace/" + name + "}" }

func endpointKey(name string) string { return "deckhand:{endpoint/" + name + "}" }

// counterKey begins the keys of counters that are no run's own.
const counterKey = "deckhand:{counter/"

// counter is where a counter is kept: the key, and the field where the key is
// a hash. Counters named run/RUN/… are the run's own and end with it.
func (k keys) counter(name string) (key, field string) {
	if run, own := counterRun(name); own {
		return k.spent(run), name
	}
	return counterKey + name + "}", ""
}

// heldKey is the key of reservation i of an attempt, in the slot of the counter's key.
func heldKey(counterKey, attempt string, i int) string {
	return counterKey + ":held:" + attempt + ":" + strconv.Itoa(i)
}

// counterRun is the run that a counter belongs to.
func counterRun(name string) (run agent.RunID, own bool) {
	rest, own := strings.CutPrefix(name, agent.RunCounter(""))
	if !own {
		return "", false
	}
	id, _, own := strings.Cut(rest, "/")
	return agent.RunID(id), own && id != ""
}

// oldOnceKey is where the release before kept a once-key.
func oldOnceKey(name string) string { return "deckhand:once:" + name }

// rotated lists n shards, another one first each turn: none is starved.
func rotated(n int, turn uint64) []int {
	first := int(turn % uint64(n))
	shards := make([]int, n)
	for i := range shards {
		shards[i] = (first + i) % n
	}
	return shards
}
