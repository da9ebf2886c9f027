package main

import (
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// config is the configuration file with the environment and the flags laid
// over it. Every key stands here once, with its default and its bounds:
//
//	yaml      the key
//	default   its value where nobody gives one
//	env       the environment variable that wins over the file
//	min, oneof, is, required   what is refused (config_scalar.go)
//	keys      what the free keys of a map must look like
//
// A secret's key names a file; its variable holds the secret itself. Relative
// paths in the file start at the file's own folder, those of the environment
// and of flags at the working directory.
type config struct {
	Workspace    string             `yaml:"workspace" default:"." env:"DECKHAND_WORKSPACE" is:"path"`
	DataDir      string             `yaml:"data_dir" default:".deckhand" env:"DECKHAND_DATA_DIR" is:"path"`
	HTTP         string             `yaml:"http" default:"127.0.0.1:8080" env:"DECKHAND_HTTP_ADDR" is:"listen"`
	Model        modelConfig        `yaml:"model"`
	Engine       engineConfig       `yaml:"engine"`
	Budget       budgetConfig       `yaml:"budget"`
	PlanApproval agent.PlanApproval `yaml:"plan_approval" oneof:"never effects always"` // see planApproval
	Autonomy     agent.Autonomy     `yaml:"autonomy" default:"ask-risky" oneof:"suggest ask-each ask-risky within-budget"`
	Authority    authorityConfig    `yaml:"authority"`
	CheckIns     checkInConfig      `yaml:"check_ins"`
	Voice        voiceConfig        `yaml:"voice"`
	Retention    retentionConfig    `yaml:"retention"`
	Schedules    []scheduleConfig   `yaml:"schedules"`
	Zone         string             `yaml:"zone" default:"UTC" is:"zone"` // of times that name none
	Tools        toolsConfig        `yaml:"tools"`
	// Channels is keyed by "platform:workspace:channel".
	Channels map[string]channelConfig `yaml:"channels" keys:"channel"`
	Slack    slackConfig              `yaml:"slack"`
	Discord  discordConfig            `yaml:"discord"`
	Redis    redisConfig              `yaml:"redis"`

	file   string // the file that was read, empty: none
	origin origins
}

// modelConfig is the door to the model. Fast is Name where it is not given;
// without Embedding, recall works by words alone. Retries 0 asks once.
type modelConfig struct {
	Name            string        `yaml:"name" env:"DECKHAND_MODEL"`
	Fast            string        `yaml:"fast" env:"DECKHAND_MODEL_FAST"`
	Embedding       string        `yaml:"embedding" env:"DECKHAND_EMBEDDING_MODEL"`
	BaseURL         string        `yaml:"base_url" env:"OPENAI_BASE_URL" is:"url"`
	APIKey          secret        `yaml:"api_key_file" env:"OPENAI_API_KEY"`
	Mode            string        `yaml:"mode" default:"tools" oneof:"tools json"`
	Stream          bool          `yaml:"stream" default:"true"`
	Timeout         time.Duration `yaml:"timeout" default:"120s" min:"1ms"`
	Retries         int           `yaml:"retries" default:"5" min:"0"`
	RetryMaxWait    time.Duration `yaml:"retry_max_wait" default:"60s" min:"0"`
	MaxAnswerTokens int           `yaml:"max_answer_tokens" default:"4096" min:"1"`
	// Prices is keyed by the model's name.
	Prices map[string]priceConfig `yaml:"prices"`
}

// priceConfig is a list price in US$ per 1,000,000 tokens. Cached is Input
// where it is not given.
type priceConfig struct {
	Input  agent.Nano `yaml:"input" min:"0" required:"true"`
	Cached agent.Nano `yaml:"cached" min:"0"`
	Output agent.Nano `yaml:"output" min:"0" required:"true"`
}

// engineConfig bounds the workers. Slots is the number of tasks of one run at once.
type engineConfig struct {
	Lease   time.Duration `yaml:"lease" default:"3s" min:"100ms"`
	Workers int           `yaml:"workers" default:"16" min:"1"`
	Slots   int           `yaml:"slots" default:"4" min:"1"`
}

// budgetConfig bounds what is spent. Zero is no limit.
type budgetConfig struct {
	Run          limits      `yaml:"run"`
	PersonMonth  monthLimits `yaml:"person_month"`
	ChannelMonth monthLimits `yaml:"channel_month"`
	Month        monthLimits `yaml:"month"`
}

// limits is agent.Limits with the defaults of a run.
type limits struct {
	USD    agent.Nano    `yaml:"usd" default:"5" min:"0"`
	Tokens int64         `yaml:"tokens" default:"500000" min:"0"`
	Time   time.Duration `yaml:"time" default:"2h" min:"0"`
	Steps  int64         `yaml:"steps" default:"300" min:"0"`
}

// monthLimits is what a person, a channel or everybody may spend in a calendar month.
type monthLimits struct {
	USD agent.Nano `yaml:"usd" min:"0"`
}

// authorityConfig says who may do what. Lists hold principals: "slack:U…",
// "slack:S…", "discord:ID", "discord:&ID", "terminal", or a bare id of any platform.
type authorityConfig struct {
	Start               []string      `yaml:"start" is:"principal"`     // empty: every full member
	Operators           []string      `yaml:"operators" is:"principal"` // may steer and stop any run
	Approvers           []string      `yaml:"approvers" is:"principal"` // empty: the requester and the operators
	Reviewers           []string      `yaml:"reviewers" is:"principal"` // approve results before they are reported; empty: none is reviewed
	RequesterMayApprove bool          `yaml:"requester_may_approve" default:"true"`
	Quorum              int           `yaml:"quorum" default:"1" min:"1"`
	Expires             time.Duration `yaml:"expires" default:"24h" min:"1ms"` // of a checkpoint
	AllowBots           []string      `yaml:"allow_bots" is:"bot"`
	Admins              []string      `yaml:"admins" is:"principal"`
}

// checkInConfig is when the agent looks at itself. Zero switches that trigger
// off. AlertAfter is how long a run may have no event, and no reason to wait,
// before somebody is told.
type checkInConfig struct {
	Every      time.Duration `yaml:"every" default:"10m" min:"0"`
	Steps      int           `yaml:"steps" default:"30" min:"0"`
	AlertAfter time.Duration `yaml:"alert_after" default:"1h" min:"100ms"`
}

// voiceConfig is the pace of what is posted. CardEvery is a least distance;
// Heartbeat 0 is none.
type voiceConfig struct {
	CardEvery      time.Duration `yaml:"card_every" default:"3s" min:"1ms"`
	Heartbeat      time.Duration `yaml:"heartbeat" default:"60s" min:"0"`
	PostTimeout    time.Duration `yaml:"post_timeout" default:"3s" min:"1ms"`
	EditsPerMinute int           `yaml:"edits_per_minute" default:"50" min:"1"`
}

// retentionConfig is how long ended runs are kept, and from which age on a
// missed goal is asked about before it starts.
type retentionConfig struct {
	Runs    time.Duration `yaml:"runs" default:"2160h" min:"1ms"`
	CatchUp time.Duration `yaml:"catch_up" default:"24h" min:"0"`
}

// scheduleConfig is a recurring report or a recurring goal: one of the two.
type scheduleConfig struct {
	Name   string `yaml:"name" is:"name" required:"true"`
	Report string `yaml:"report" oneof:"workspace channel"`
	Goal   string `yaml:"goal"`
	When   string `yaml:"when" is:"when" required:"true"`
	Zone   string `yaml:"zone" is:"zone"` // the file's own where it is not given
	To     string `yaml:"to" is:"address" required:"true"`
	Quiet  bool   `yaml:"quiet" default:"true"` // nothing is posted when nothing changed
	Missed string `yaml:"missed" default:"late" oneof:"late skip"`
	// Overlap is what happens while the last run of the goal has not ended.
	Overlap string `yaml:"overlap" default:"skip" oneof:"skip queue replace"`
}

// toolsConfig bounds the tools. Hosts may be reached without a question;
// "*.example.com" covers the names below example.com.
type toolsConfig struct {
	RunCode runCodeConfig `yaml:"run_code"`
	Jobs    jobsConfig    `yaml:"jobs"`
	Hosts   []string      `yaml:"hosts" is:"host"`
}

// runCodeConfig bounds one run of generated code.
type runCodeConfig struct {
	Memory byteSize      `yaml:"memory" default:"256MiB" min:"1"`
	CPU    time.Duration `yaml:"cpu" default:"5s" min:"1ms"`
	Wall   time.Duration `yaml:"wall" default:"10s" min:"1ms"`
	Output byteSize      `yaml:"output" default:"64KiB" min:"1"`
}

// jobsConfig switches commands on the host on, and bounds them: how many a run
// has at once, for how long, and how much each may put out.
type jobsConfig struct {
	Enabled bool          `yaml:"enabled" default:"false"`
	Max     int           `yaml:"max" default:"4" min:"1"`
	Wall    time.Duration `yaml:"wall" default:"2h" min:"1s"`
	Output  byteSize      `yaml:"output" default:"16MiB" min:"1"`
}

// channelConfig is what differs in one channel. What is not given is empty
// here and follows the rest of the file: see autonomy, planApproval, runLimits.
type channelConfig struct {
	Autonomy     agent.Autonomy     `yaml:"autonomy" oneof:"suggest ask-each ask-risky within-budget"`
	PlanApproval agent.PlanApproval `yaml:"plan_approval" oneof:"never effects always"`
	Budget       channelBudget      `yaml:"budget"`
	Authority    channelAuthority   `yaml:"authority"`
}

// channelAuthority is who may do what in a channel, where that differs.
type channelAuthority struct {
	Start     []string `yaml:"start" is:"principal"`
	Operators []string `yaml:"operators" is:"principal"`
	Approvers []string `yaml:"approvers" is:"principal"`
	Reviewers []string `yaml:"reviewers" is:"principal"`
}

// channelBudget holds the limits of a channel's runs that differ.
type channelBudget struct {
	Run struct {
		USD    agent.Nano    `yaml:"usd" min:"0"`
		Tokens int64         `yaml:"tokens" min:"0"`
		Time   time.Duration `yaml:"time" min:"0"`
		Steps  int64         `yaml:"steps" min:"0"`
	} `yaml:"run"`
}

// slackConfig is on with a bot token; the app token is for Socket Mode, the
// signing secret for the HTTP routes.
type slackConfig struct {
	BotToken      secret `yaml:"bot_token_file" env:"SLACK_BOT_TOKEN"`
	AppToken      secret `yaml:"app_token_file" env:"SLACK_APP_TOKEN"`
	SigningSecret secret `yaml:"signing_secret_file" env:"SLACK_SIGNING_SECRET"`
	APIURL        string `yaml:"api_url" env:"SLACK_API_URL" is:"url"`
}

// discordConfig is on with a token. The public key adds the HTTP route;
// without Gateway there is only that.
type discordConfig struct {
	Gateway   bool   `yaml:"gateway" default:"true"`
	Token     secret `yaml:"token_file" env:"DISCORD_TOKEN"`
	PublicKey secret `yaml:"public_key_file" env:"DISCORD_PUBLIC_KEY"`
	APIURL    string `yaml:"api_url" env:"DISCORD_API_URL" is:"url"`
	AppID     string `yaml:"app_id" env:"DISCORD_APP_ID" is:"snowflake"`
	GuildID   string `yaml:"guild_id" env:"DISCORD_GUILD_ID" is:"snowflake"`
}

// redisConfig is the distributed store; without a URL the store is SQLite in
// the data directory. WaitReplicas is how many replicas must have an intent
// before an effect that cannot be found again.
type redisConfig struct {
	URL          secret `yaml:"url_file" env:"DECKHAND_REDIS_URL"`
	Shards       int    `yaml:"shards" default:"16" min:"1"`
	WaitReplicas int    `yaml:"wait_replicas" default:"0" min:"0"`
}

// at says where the value of a key comes from: "deckhand.yaml:12", the name of
// a variable or of a flag; empty where it is the default. Keys are written as
// "budget.run.usd", `model.prices["gpt-5"].input`, "schedules[0].when".
func (c config) at(key string) string { return c.origin[key].String() }

// given reports whether somebody set the key.
func (c config) given(key string) bool { return c.origin.has(key) }

// places are the keys of channels that a channel follows: its own, then its workspace's.
func places(channel string) []string {
	platform, rest, _ := strings.Cut(channel, ":")
	workspace, _, _ := strings.Cut(rest, ":")
	return []string{channel, platform + ":" + workspace}
}

// autonomyIn is the autonomy of runs in a channel; "" is the terminal.
func (c config) autonomyIn(channel string) agent.Autonomy {
	for _, place := range places(channel) {
		if a := c.Channels[place].Autonomy; a != "" {
			return a
		}
	}
	return c.Autonomy
}

// reviewersIn are the people who review the results of a channel's runs; "" is
// the terminal.
func (c config) reviewersIn(channel string) []string {
	for _, place := range places(channel) {
		if list := c.Channels[place].Authority.Reviewers; len(list) > 0 {
			return slices.Clone(list)
		}
	}
	return slices.Clone(c.Authority.Reviewers)
}

// planApprovalIn is the plan approval of runs in a channel. Where nothing is
// configured, plans with effects are asked in chat and none in the terminal (channel "").
func (c config) planApprovalIn(channel string) agent.PlanApproval {
	for _, place := range places(channel) {
		if p := c.Channels[place].PlanApproval; p != "" {
			return p
		}
	}
	switch {
	case c.PlanApproval != "":
		return c.PlanApproval
	case channel == "":
		return agent.ApprovePlanNever
	}
	return agent.ApprovePlanEffects
}

// limitsIn is what a run in a channel may spend; "" is the terminal. Given
// reports whether its money limit was set by somebody: a default one is
// dropped where the model has no price, a given one is not.
func (c config) limitsIn(channel string) (l agent.Limits, given bool) {
	l, given = agent.Limits(c.Budget.Run), c.given("budget.run.usd")
	for _, place := range slices.Backward(places(channel)) { // the channel has the last word
		own, prefix := c.Channels[place].Budget.Run, member("channels", place)+".budget.run."
		if c.given(prefix + "usd") {
			l.USD, given = own.USD, true
		}
		if c.given(prefix + "tokens") {
			l.Tokens = own.Tokens
		}
		if c.given(prefix + "time") {
			l.Time = own.Time
		}
		if c.given(prefix + "steps") {
			l.Steps = own.Steps
		}
	}
	return l, given
}
