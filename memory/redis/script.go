package redis

// The atomic parts, each in a file of script/*.lua.

import (
	_ "embed" // the scripts
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// The scripts, each with its KEYS, ARGV and reply at its head.
var (
	//go:embed script/strand.lua
	strandLua string
	//go:embed script/counter.lua
	counterLua string
	//go:embed script/commit.lua
	commitLua string
	//go:embed script/claim.lua
	claimLua string
	//go:embed script/claim_run.lua
	claimRunLua string
	//go:embed script/extend.lua
	extendLua string
	//go:embed script/return.lua
	returnLua string
	//go:embed script/keep.lua
	keepLua string
	//go:embed script/artifact.lua
	artifactLua string
	//go:embed script/watch.lua
	watchLua string
	//go:embed script/name.lua
	nameLua string
	//go:embed script/set.lua
	setLua string
	//go:embed script/unname.lua
	unnameLua string
	//go:embed script/pace.lua
	paceLua string
	//go:embed script/live.lua
	liveLua string
	//go:embed script/admit.lua
	admitLua string
	//go:embed script/now.lua
	nowLua string
	//go:embed script/drop.lua
	dropLua string
	//go:embed script/hold_once.lua
	holdOnceLua string
	//go:embed script/drop_once.lua
	dropOnceLua string
	//go:embed script/confirm_once.lua
	confirmOnceLua string
	//go:embed script/fate.lua
	fateLua string
	//go:embed script/hold_spend.lua
	holdSpendLua string
	//go:embed script/drop_spend.lua
	dropSpendLua string
	//go:embed script/record.lua
	recordLua string
	//go:embed script/records.lua
	recordsLua string
	//go:embed script/trail.lua
	trailLua string
)

// constantsLua gives the scripts what they share with the Go side.
var constantsLua = fmt.Sprintf("local BELL, WORD, POLL, ONCE_TTL, ATTEMPT_TTL, COUNTER_TTL, FAR, GENERATION = '%s', '%s', %d, %d, %d, %d, %d, %d\n",
	bell, wordTopic, poll.Microseconds(), int64(onceTTL.Seconds()), int64(attemptTTL.Seconds()), int64(memory.CounterKept.Seconds()), farMicro, agent.Generation)

var (
	commitScript      = redis.NewScript(constantsLua + strandLua + counterLua + nameLua + commitLua)
	claimScript       = redis.NewScript(constantsLua + strandLua + claimLua)
	claimRunScript    = redis.NewScript(constantsLua + strandLua + claimRunLua)
	extendScript      = redis.NewScript(constantsLua + strandLua + extendLua)
	returnScript      = redis.NewScript(constantsLua + strandLua + returnLua)
	keepScript        = redis.NewScript(keepLua)
	artifactScript    = redis.NewScript(artifactLua)
	watchScript       = redis.NewScript(watchLua)
	setScript         = redis.NewScript(nameLua + setLua)
	unnameScript      = redis.NewScript(nameLua + unnameLua)
	paceScript        = redis.NewScript(constantsLua + strandLua + paceLua)
	nowScript         = redis.NewScript(constantsLua + strandLua + nowLua)
	liveScript        = redis.NewScript(liveLua)
	dropScript        = redis.NewScript(dropLua)
	holdOnceScript    = redis.NewScript(holdOnceLua)
	dropOnceScript    = redis.NewScript(dropOnceLua)
	confirmOnceScript = redis.NewScript(confirmOnceLua)
	fateScript        = redis.NewScript(fateLua)
	holdSpendScript   = redis.NewScript(constantsLua + counterLua + holdSpendLua)
	dropSpendScript   = redis.NewScript(constantsLua + counterLua + dropSpendLua)
	admitScript       = redis.NewScript(constantsLua + strandLua + admitLua)
	trailScript       = redis.NewScript(trailLua)
)
