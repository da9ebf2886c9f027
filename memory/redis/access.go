package redis

// What a server must be, and what it must let its user do. All of it is proved
// before the first commit: a right that is missing would show in the middle of
// somebody's work.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// admit asks the server what it is and what its user may do, and returns the
// number of shards of its data, and what should be otherwise.
func (s server) admit(ctx context.Context, c Config) (shards int, warnings []string, err error) {
	infos, err := s.infos(ctx)
	switch {
	case redis.HasErrorPrefix(err, "NOPERM"):
		warnings = append(warnings, "its user may not ask INFO: see to it yourself that it is Redis 7.0 or later, with maxmemory-policy noeviction and appendonly yes")
	case passwordRefused(err):
		return 0, nil, fmt.Errorf("%w: %s: %w: %w", ErrUnreachable, s.address, ErrPassword, err)
	case err != nil:
		return 0, nil, fmt.Errorf("%w: %s: %w; start it, or correct the URL", ErrUnreachable, s.address, err)
	}
	for _, info := range infos {
		if err := s.fits(info); err != nil {
			return 0, nil, err
		}
		if info["aof_enabled"] == "0" && len(warnings) == 0 {
			warnings = append(warnings, "it keeps no append-only file: what was acknowledged is lost with the process; set appendonly yes")
		}
	}
	if err := s.permits(ctx, c); err != nil {
		return 0, nil, err
	}
	shards, err = s.settle(ctx, c)
	return shards, warnings, err
}

// infos are what INFO says, of each master of a Cluster.
func (s server) infos(ctx context.Context) (all []map[string]string, err error) {
	var mu sync.Mutex
	ask := func(ctx context.Context, c redis.Cmdable) error {
		text, err := c.Info(ctx, "everything").Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, parseInfo(text))
		return err
	}
	if cluster, is := s.client.(*redis.ClusterClient); is {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error { return ask(ctx, master) })
	} else {
		err = ask(ctx, s.client)
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// layout is the layout that this build writes.
func (s server) layout() string {
	if s.cluster {
		return clusterLayout
	}
	return layout
}

// settle returns the number of shards of the data, which the first start sets.
func (s server) settle(ctx context.Context, c Config) (shards int, err error) {
	unusable := func(err error) error {
		if redis.HasErrorPrefix(err, "READONLY") {
			return fmt.Errorf("%w: %s is a read-only replica; use the master's URL, or redis+sentinel:// (%w)", ErrServer, s.address, err)
		}
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	want := c.Shards
	if want == 0 {
		want = defaultShards
	}
	if err := s.client.HSetNX(ctx, metaKey, "shards", want).Err(); err != nil {
		return 0, unusable(err)
	}
	if err := s.client.HSetNX(ctx, metaKey, "layout", s.layout()).Err(); err != nil {
		return 0, unusable(err)
	}
	meta, err := s.client.HGetAll(ctx, metaKey).Result()
	if err != nil {
		return 0, unusable(err)
	}
	if had := meta["layout"]; had != s.layout() && (had != layout || !s.cluster) {
		return 0, fmt.Errorf("%w: %s has layout %q, this build knows %s; use the build that wrote it, or an empty Redis", ErrLayout, s.address, had, s.layout())
	}
	shards, err = strconv.Atoi(meta["shards"])
	if err != nil || shards < 1 {
		return 0, fmt.Errorf("%w: %s says it has %q shards; field shards of %s is damaged", ErrLayout, s.address, meta["shards"], metaKey)
	}
	if c.Shards != 0 && c.Shards != shards {
		return 0, fmt.Errorf("%w: %s was set up with %d shards and the configuration says %d; set %d (or leave it out), or use an empty Redis",
			ErrLayout, s.address, shards, c.Shards, shards)
	}
	return shards, nil
}

// fits refuses servers that cannot keep what they are told.
func (s server) fits(info map[string]string) error {
	version := info["redis_version"]
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 7 {
		return fmt.Errorf("%w: %s has version %q, 7.0 or later is needed", ErrServer, s.address, version)
	}
	if inCluster := info["cluster_enabled"] == "1"; inCluster != s.cluster {
		if inCluster {
			return fmt.Errorf("%w: %s is part of a Cluster; write redis+cluster:// (or rediss+cluster://) in its URL", ErrServer, s.address)
		}
		return fmt.Errorf("%w: %s is not part of a Cluster; leave +cluster out of its URL", ErrServer, s.address)
	}
	if role := info["role"]; role != "master" && !s.cluster {
		return fmt.Errorf("%w: %s is a %s; use the master's URL, or redis+sentinel://", ErrServer, s.address, role)
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		return fmt.Errorf("%w: %s evicts data (maxmemory-policy %s); set maxmemory-policy noeviction", ErrServer, s.address, policy)
	}
	return nil
}

// parseInfo reads the reply to INFO: lines of key:value.
func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			info[key] = value
		}
	}
	return info
}

// rights are the commands that are used, each as it is used on some key. @ stands
// for a key of the store, # for its channel.
var rights = []string{
	"DEL @", "EXISTS @", "EXPIRE @ 1", "GET @", "HDEL @ f", "HGET @ f", "HGETALL @", "HINCRBY @ f 1", "HKEYS @", "HLEN @",
	"HMGET @ f", "HSET @ f v", "HSETNX @ f v", "INCRBY @ 1", "LINDEX @ 0", "LLEN @", "LRANGE @ 0 1", "LTRIM @ 0 1", "PEXPIRE @ 1",
	"PUBLISH # word", "RPUSH @ v", "SCAN 0", "SET @ v", "SUBSCRIBE #", "TIME", "UNLINK @", "ZADD @ 0 v", "ZCARD @", "ZCOUNT @ 0 1",
	"ZDIFFSTORE @ 2 @ @", "ZINTERCARD 2 @ @", "ZRANGE @ 0 1", "ZRANGEBYLEX @ - +", "ZRANGEBYSCORE @ 0 1", "ZRANK @ v", "ZREM @ v",
	"ZREVRANGE @ 0 1", "ZREVRANGEBYSCORE @ 1 0", "ZSCORE @ v",
}

// samples are keys of each kind.
var samples = []string{
	namesKey, oldOnceKey("probe"), blobKey("probe"), paceKey("probe"), "deckhand:{counter/probe}",
	"deckhand:{0}:due", "deckhand:{0}:run:probe", "deckhand:{0}:journal:probe",
}

// probeScript returns the places (from 1) of those commands that the user may
// not give. ARGV: for each command, how many words it has, and its words.
var probeScript = redis.NewScript(`
local denied, i, place = {}, 1, 0
while i <= #ARGV and redis.acl_check_cmd do
  local n = tonumber(ARGV[i])
  place = place + 1
  local known, may = pcall(redis.acl_check_cmd, unpack(ARGV, i + 1, i + n))
  if not (known and may) then
    denied[#denied + 1] = place
  end
  i = i + n + 1
end
return denied
`)

// permits proves that the user may do all that the store does, on keys and
// channels of the store, and says in words what to grant.
func (s server) permits(ctx context.Context, c Config) error {
	var commands [][]string
	for _, right := range rights {
		commands = append(commands, strings.Fields(strings.NewReplacer("@", metaKey, "#", bell).Replace(right)))
	}
	if c.WaitReplicas > 0 {
		commands = append(commands, []string{"WAIT", "1", "1"})
	}
	if s.cluster {
		commands = append(commands, []string{"PTTL", metaKey}, []string{"CLUSTER", "SLOTS"}, []string{"ASKING"})
	}
	for _, key := range samples {
		commands = append(commands, []string{"SET", key, "v"}, []string{"GET", key})
	}
	var args []any
	for _, words := range commands {
		args = append(args, len(words))
		for _, w := range words {
			args = append(args, w)
		}
	}
	denied, err := probeScript.Run(ctx, s.client, nil, args...).Int64Slice()
	if redis.HasErrorPrefix(err, "NOPERM") {
		return s.grant(ctx, err, "+eval +evalsha")
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.address, err)
	}
	if len(denied) == 0 {
		return nil
	}
	return s.grant(ctx, nil, missing(commands, denied))
}

// missing is what to grant: keys, channels, and single commands. Where nothing
// may be done with a key, or not the same with all of them, it is the keys.
func missing(commands [][]string, denied []int64) string {
	var grants, names []string
	onMetaDenied, onSamples, channel := 0, 0, false
	for _, place := range denied {
		if place < 1 || int(place) > len(commands) {
			continue
		}
		words := commands[place-1]
		switch {
		case slices.Contains(words, metaKey):
			onMetaDenied++
			names = append(names, "+"+strings.ToLower(words[0]))
		case slices.Contains(words, bell):
			channel = true
		case len(words) > 1 && strings.HasPrefix(words[1], "deckhand:"):
			onSamples++
		default:
			names = append(names, "+"+strings.ToLower(words[0]))
		}
	}
	if onMetaDenied == onMeta(commands) {
		return "~deckhand:*"
	}
	if onSamples > 0 && onSamples%len(samples) != 0 {
		grants = append(grants, "~deckhand:*")
	}
	if channel {
		grants = append(grants, "&deckhand:*")
		if len(names) > 0 {
			names = append(names, "+publish", "+subscribe")
		}
	}
	slices.Sort(names)
	return strings.Join(append(grants, slices.Compact(names)...), " ")
}

// onMeta is how many of the commands are proved on metaKey.
func onMeta(commands [][]string) (n int) {
	for _, words := range commands {
		if slices.Contains(words, metaKey) {
			n++
		}
	}
	return n
}

// grant says what the user lacks.
func (s server) grant(ctx context.Context, cause error, rules string) error {
	user, err := s.client.Do(ctx, "ACL", "WHOAMI").Text()
	if err != nil {
		user = "NAME" // it may not even ask for its name
	}
	channels := ""
	if strings.Contains(rules, "&") {
		channels = " (since Redis 7 a new user has no channels)"
	}
	err = fmt.Errorf("%w: %s does not let its user do all that is needed; grant it%s: ACL SETUSER %s %s", ErrServer, s.address, channels, user, rules)
	if cause != nil {
		err = fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

// ErrPassword says that the server refuses the user or the password of the URL.
var ErrPassword = errors.New("it does not take the user and password of the Redis URL; where the password was changed, put the new one into DECKHAND_REDIS_URL and start again")

// passwordRefused reports whether the server asks for another password: at the
// start, or later, once it was changed.
func passwordRefused(err error) bool {
	return redis.HasErrorPrefix(err, "WRONGPASS") || redis.HasErrorPrefix(err, "NOAUTH")
}
