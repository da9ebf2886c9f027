package config

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Config is the configuration file with the environment and the flags laid
// over it. Every key stands here once, with its default and its bounds:
//
//	yaml      the key
//	default   its value where nobody gives one
//	env       the environment variable that wins over the file
//	min, oneof, is, required   what is refused (scalar.go, form.go)
//	keys      what the free keys of a map must look like
//	unit      what a number counts, where its type does not say it
//
// A secret's key names a file; its variable holds the secret itself. Relative
// paths in the file start at the file's own folder, those of the environment
// and of flags at the working directory.
type Config struct {
	Workspace    string             `yaml:"workspace" default:"." env:"DECKHAND_WORKSPACE" is:"path"`
	DataDir      string             `yaml:"data_dir" default:".deckhand" env:"DECKHAND_DATA_DIR" is:"path"`
	HTTP         string             `yaml:"http" default:"127.0.0.1:8080" env:"DECKHAND_HTTP_ADDR" is:"listen"`
	Model        Model              `yaml:"model"`
	Engine       Engine             `yaml:"engine"`
	Budget       Budget             `yaml:"budget"`
	PlanApproval agent.PlanApproval `yaml:"plan_approval" oneof:"never effects always"` // see PlanApprovalIn
	Autonomy     agent.Autonomy     `yaml:"autonomy" default:"ask-risky" oneof:"suggest ask-each ask-risky within-budget"`
	Policy       string             `yaml:"policy" is:"path"` // rules of this installation
	Authority    Authority          `yaml:"authority"`
	CheckIns     CheckIns           `yaml:"check_ins"`
	Voice        Voice              `yaml:"voice"`
	Retention    Retention          `yaml:"retention"`
	Memory       Memory             `yaml:"memory"`
	Audit        Audit              `yaml:"audit"`
	Gate         Gate               `yaml:"gate"`
	Schedules    []Schedule         `yaml:"schedules"`
	Zone         string             `yaml:"zone" default:"UTC" is:"zone"` // of times that name none
	Tools        Tools              `yaml:"tools"`
	Sandbox      Sandbox            `yaml:"sandbox"`
	Search       Search             `yaml:"search"`
	Web          Web                `yaml:"web"`
	Images       Images             `yaml:"images"`
	// MCPServers and OpenAPI are sources of tools; their names begin those of the tools.
	MCPServers map[string]MCPServer `yaml:"mcpServers" keys:"source"`
	OpenAPI    map[string]OpenAPI   `yaml:"openapi" keys:"source"`
	// Packs are folders that a team keeps its own tools, roles and playbooks in.
	Packs []string `yaml:"packs" is:"path"`
	// Skills are folders of skills: each subfolder with a SKILL.md is one.
	Skills []string `yaml:"skills" is:"path"`
	// Currency is where rates of currencies come from.
	Currency Currency `yaml:"currency"`
	// Channels is keyed by "platform:workspace:channel".
	Channels map[string]Channel `yaml:"channels" keys:"channel"`
	Slack    Slack              `yaml:"slack"`
	Discord  Discord            `yaml:"discord"`
	Redis    Redis              `yaml:"redis"`

	// File is the file that was read, empty: none.
	File string

	origin origins
}

// Model is the endpoint of the model. Fast is Name where it is not given;
// without Embedding, recall works by words alone. Patience is how long a run
// waits for an endpoint that is limited or away before it pauses; 0: a call
// fails after so many Retries, and Retries 0 asks once.
type Model struct {
	Name              string        `yaml:"name" env:"DECKHAND_MODEL"`
	Fast              string        `yaml:"fast" env:"DECKHAND_MODEL_FAST"`
	Embedding         string        `yaml:"embedding" env:"DECKHAND_EMBEDDING_MODEL"`
	BaseURL           string        `yaml:"base_url" env:"OPENAI_BASE_URL" is:"url"`
	APIKey            Secret        `yaml:"api_key_file" env:"OPENAI_API_KEY"`
	Mode              string        `yaml:"mode" default:"tools" oneof:"tools json"`
	Stream            bool          `yaml:"stream" default:"true"`
	Timeout           time.Duration `yaml:"timeout" default:"120s" min:"1ms"`
	RequestsPerMinute int           `yaml:"requests_per_minute" min:"0" unit:"requests a minute"`
	TokensPerMinute   int           `yaml:"tokens_per_minute" min:"0" unit:"tokens a minute"`
	// Window is the main model's context window; 0: what its endpoint says.
	Window       int           `yaml:"window" min:"0" unit:"tokens"`
	Patience     time.Duration `yaml:"patience" default:"1h" min:"0"`
	Retries      int           `yaml:"retries" default:"5" min:"0" unit:"attempts after the first"`
	RetryMaxWait time.Duration `yaml:"retry_max_wait" default:"60s" min:"0"`
	// Hear has the fast model read what people say in a run's thread.
	Hear bool `yaml:"hear" default:"true"`
	// Thought has the model asked with each call of a tool why it makes it.
	Thought         bool `yaml:"thought" default:"true"`
	MaxAnswerTokens int  `yaml:"max_answer_tokens" default:"4096" min:"1" unit:"tokens"`
	// Prices is keyed by the model's name.
	Prices map[string]Price `yaml:"prices"`
}

// Price is a list price in US$ per 1,000,000 tokens. Cached is Input
// where it is not given.
type Price struct {
	Input  agent.Nano `yaml:"input" min:"0" required:"true" unit:"US$ per 1,000,000 tokens"`
	Cached agent.Nano `yaml:"cached" min:"0" unit:"US$ per 1,000,000 tokens"`
	Output agent.Nano `yaml:"output" min:"0" required:"true" unit:"US$ per 1,000,000 tokens"`
}

// Engine bounds the workers. Slots is the number of tasks of one run at once.
type Engine struct {
	Lease   time.Duration `yaml:"lease" default:"3s" min:"100ms"`
	Workers int           `yaml:"workers" default:"16" min:"1" unit:"agents"`
	Slots   int           `yaml:"slots" default:"4" min:"1" unit:"tasks of one run"`
}

// Budget bounds what is spent. Zero is no limit.
type Budget struct {
	Run          Limits      `yaml:"run"`
	PersonMonth  MonthLimits `yaml:"person_month"`
	ChannelMonth MonthLimits `yaml:"channel_month"`
	Month        MonthLimits `yaml:"month"`
	PersonRuns   RunLimits   `yaml:"person_runs"`
	ChannelRuns  RunLimits   `yaml:"channel_runs"`
	// RequesterRaise is by how many percent in all a requester raises a budget of
	// their own run; more takes an approver or an operator.
	RequesterRaise int `yaml:"requester_raise" default:"100" min:"0" unit:"percent"`
}

// RunLimits is how many runs people start in chat: so many live ones at once, and
// so many a day (UTC). Zero is no limit.
type RunLimits struct {
	AtOnce int64 `yaml:"at_once" min:"0" unit:"runs"`
	Day    int64 `yaml:"day" min:"0" unit:"runs a day"`
}

// Limits is agent.Limits with the defaults of a run.
type Limits struct {
	USD    agent.Nano    `yaml:"usd" default:"5" min:"0"`
	Tokens int64         `yaml:"tokens" default:"500000" min:"0" unit:"tokens"`
	Time   time.Duration `yaml:"time" default:"2h" min:"0"`
	Steps  int64         `yaml:"steps" default:"300" min:"0" unit:"steps"`
}

// MonthLimits is what a person, a channel or everybody may spend in a calendar month.
type MonthLimits struct {
	USD agent.Nano `yaml:"usd" min:"0"`
}

// Authority says who may do what. Lists hold principals: "slack:U…",
// "slack:S…", "discord:ID", "discord:&ID", "terminal", or a bare id of any platform.
type Authority struct {
	Start               []string      `yaml:"start" is:"principal"`     // empty: every full member
	Operators           []string      `yaml:"operators" is:"principal"` // may steer and stop any run
	Approvers           []string      `yaml:"approvers" is:"principal"` // empty: the requester and the operators
	Reviewers           []string      `yaml:"reviewers" is:"principal"` // approve results before they are reported; empty: none is reviewed
	RequesterMayApprove bool          `yaml:"requester_may_approve" default:"true"`
	Quorum              int           `yaml:"quorum" default:"1" min:"1" unit:"people"`
	Expires             time.Duration `yaml:"expires" default:"24h" min:"1ms"` // of a checkpoint
	AllowBots           []string      `yaml:"allow_bots" is:"bot"`
	Admins              []string      `yaml:"admins" is:"principal"`
}

// CheckIns is when the agent looks at itself. Zero switches that trigger
// off. AlertAfter is how long a run may have no event, and no reason to wait,
// before somebody is told.
type CheckIns struct {
	Every      time.Duration `yaml:"every" default:"10m" min:"0"`
	Steps      int           `yaml:"steps" default:"30" min:"0" unit:"steps"`
	AlertAfter time.Duration `yaml:"alert_after" default:"1h" min:"100ms"`
}

// Voice is the pace of what is posted. CardEvery is a least distance;
// Heartbeat 0 is none.
type Voice struct {
	CardEvery      time.Duration `yaml:"card_every" default:"3s" min:"1ms"`
	Heartbeat      time.Duration `yaml:"heartbeat" default:"60s" min:"0"`
	PostTimeout    time.Duration `yaml:"post_timeout" default:"3s" min:"1ms"`
	EditsPerMinute int           `yaml:"edits_per_minute" default:"50" min:"1" unit:"edits a minute"`
}

// Retention is how long ended runs are kept, and from which age on a
// missed goal is asked about before it starts.
type Retention struct {
	Runs    time.Duration `yaml:"runs" default:"2160h" min:"1ms"`
	CatchUp time.Duration `yaml:"catch_up" default:"24h" min:"0"`
}

// Memory says how long what is remembered is kept, 0: until somebody forgets it.
// What a scope has no time of its own for is kept for Retention. What is pinned
// stays.
type Memory struct {
	Retention time.Duration `yaml:"retention" min:"0"`
	Person    time.Duration `yaml:"person" min:"0"`
	Channel   time.Duration `yaml:"channel" min:"0"`
	Workspace time.Duration `yaml:"workspace" min:"0"`
}

// Audit says where the newest hash of the audit chain is kept outside of the
// store, and how often: a file that is appended to, beside the configuration's,
// or "stdout". Empty: nowhere.
type Audit struct {
	Anchor string        `yaml:"anchor"`
	Every  time.Duration `yaml:"every" default:"1h" min:"1s"`
}

// Gate says what is refused whoever asks for it: files with rules beside the
// shipped ones, and classes of these that are off.
type Gate struct {
	Rules []string `yaml:"rules" is:"path"`
	Off   []string `yaml:"off" is:"name"`
}

// Schedule is a recurring report or a recurring goal: one of the two.
type Schedule struct {
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

// Tools bounds the tools. Where Hosts has any, tools reach these and no others;
// "*.example.com" covers the names below example.com. Without Internet nothing of
// a tool's leaves this host.
type Tools struct {
	Internet bool     `yaml:"internet" default:"true"`
	RunCode  RunCode  `yaml:"run_code"`
	Programs Programs `yaml:"programs"`
	Jobs     Jobs     `yaml:"jobs"`
	Hosts    []string `yaml:"hosts" is:"host"`
	// HTTP, PostExternal and Git are families of tools that reach out.
	HTTP         Requests     `yaml:"http"`
	PostExternal PostExternal `yaml:"post_external"`
	Git          Git          `yaml:"git"`
	// Effects says what foreign tools are, by name or the beginning of names with
	// a "*" behind it; what is not in it is a send. Private names, likewise, those
	// whose results are nobody else's business.
	Effects map[string]string `yaml:"effects" oneof:"read idempotent send"`
	Private []string          `yaml:"private" is:"tool"`
	// Offer and OfferTokens are how much of tools a request offers before it
	// offers those only that fit.
	Offer       int `yaml:"offer" default:"20" min:"1" unit:"tools"`
	OfferTokens int `yaml:"offer_tokens" default:"4000" min:"1" unit:"tokens"`
}

// RunCode bounds one run of generated code.
type RunCode struct {
	Memory Bytes         `yaml:"memory" default:"256MiB" min:"1"`
	CPU    time.Duration `yaml:"cpu" default:"5s" min:"1ms"`
	Wall   time.Duration `yaml:"wall" default:"10s" min:"1ms"`
	Output Bytes         `yaml:"output" default:"64KiB" min:"1"`
}

// Sandbox is where programs and commands run. Network lists the hosts that they
// may reach where their task asks for them, Read the host's files that they see
// besides programs and libraries.
type Sandbox struct {
	Driver  string   `yaml:"driver" default:"auto" oneof:"auto child bubblewrap docker podman kubernetes"`
	Image   string   `yaml:"image"`
	Network []string `yaml:"network" is:"host"`
	Read    []string `yaml:"read" is:"path"`
	// Index is where packages are installed from that tasks need.
	Index string `yaml:"index" default:"https://pypi.org/simple" is:"url"`
	// Kubernetes is for that driver.
	Kubernetes Cluster `yaml:"kubernetes"`
}

// Cluster is where the driver kubernetes makes its Jobs: Runner is an image of this
// program at the path Program, Claim a volume claim that holds the workspace.
type Cluster struct {
	Context      string   `yaml:"context"`
	Namespace    string   `yaml:"namespace"`
	Runner       string   `yaml:"runner"`
	Program      string   `yaml:"program" default:"/usr/local/bin/deckhand"`
	Claim        string   `yaml:"claim"`
	RuntimeClass string   `yaml:"runtime_class"`
	PullSecrets  []string `yaml:"pull_secrets"`
}

// Programs bounds one program of run_python, execute_python_file and run_shell:
// what a task may ask for at most.
type Programs struct {
	Enabled   bool          `yaml:"enabled" default:"true"`
	Memory    Bytes         `yaml:"memory" default:"2GiB" min:"1"`
	Wall      time.Duration `yaml:"wall" default:"10m" min:"1s"`
	Disk      Bytes         `yaml:"disk" default:"1GiB" min:"1"`
	Processes int           `yaml:"processes" default:"128" min:"1" unit:"processes"`
	Output    Bytes         `yaml:"output" default:"64KiB" min:"1"`
}

// Jobs switches commands on the host on, and bounds them: how many a run
// has at once, for how long, and how much each may put out.
type Jobs struct {
	Enabled bool          `yaml:"enabled" default:"false"`
	Max     int           `yaml:"max" default:"4" min:"1" unit:"jobs of one run"`
	Wall    time.Duration `yaml:"wall" default:"2h" min:"1s"`
	Output  Bytes         `yaml:"output" default:"16MiB" min:"1"`
}

// Currency names a file or a URL with rates; empty: no tool converts money. Those of a
// URL are good for Every.
type Currency struct {
	Rates string        `yaml:"rates" is:"document"`
	Every time.Duration `yaml:"every" default:"1h" min:"1m"`
}

// Channel is what differs in one channel. What is not given is empty
// here and follows the rest of the file: see AutonomyIn, PlanApprovalIn, LimitsIn.
type Channel struct {
	Autonomy     agent.Autonomy     `yaml:"autonomy" oneof:"suggest ask-each ask-risky within-budget"`
	PlanApproval agent.PlanApproval `yaml:"plan_approval" oneof:"never effects always"`
	Policy       string             `yaml:"policy" is:"path"`
	Budget       ChannelBudget      `yaml:"budget"`
	Authority    ChannelAuthority   `yaml:"authority"`
}

// ChannelAuthority is who may do what in a channel, where that differs.
type ChannelAuthority struct {
	Start     []string `yaml:"start" is:"principal"`
	Operators []string `yaml:"operators" is:"principal"`
	Approvers []string `yaml:"approvers" is:"principal"`
	Reviewers []string `yaml:"reviewers" is:"principal"`
}

// ChannelBudget holds the Limits of a channel's runs that differ.
type ChannelBudget struct {
	Run struct {
		USD    agent.Nano    `yaml:"usd" min:"0"`
		Tokens int64         `yaml:"tokens" min:"0" unit:"tokens"`
		Time   time.Duration `yaml:"time" min:"0"`
		Steps  int64         `yaml:"steps" min:"0" unit:"steps"`
	} `yaml:"run"`
}

// Slack is on with a bot token; the app token is for Socket Mode, the
// signing Secret for the HTTP routes.
type Slack struct {
	BotToken      Secret `yaml:"bot_token_file" env:"SLACK_BOT_TOKEN"`
	AppToken      Secret `yaml:"app_token_file" env:"SLACK_APP_TOKEN"`
	SigningSecret Secret `yaml:"signing_secret_file" env:"SLACK_SIGNING_SECRET"`
	APIURL        string `yaml:"api_url" env:"SLACK_API_URL" is:"url"`
}

// Discord is on with a token. The public key adds the HTTP route;
// without Gateway there is only that.
type Discord struct {
	Gateway   bool   `yaml:"gateway" default:"true"`
	Token     Secret `yaml:"token_file" env:"DISCORD_TOKEN"`
	PublicKey Secret `yaml:"public_key_file" env:"DISCORD_PUBLIC_KEY"`
	APIURL    string `yaml:"api_url" env:"DISCORD_API_URL" is:"url"`
	AppID     string `yaml:"app_id" env:"DISCORD_APP_ID" is:"snowflake"`
	GuildID   string `yaml:"guild_id" env:"DISCORD_GUILD_ID" is:"snowflake"`
}

// Redis is the distributed store; without a URL the store is SQLite in
// the data directory. WaitReplicas is how many replicas must have an intent
// before an effect that cannot be found again.
type Redis struct {
	URL          Secret `yaml:"url_file" env:"DECKHAND_REDIS_URL"`
	Shards       int    `yaml:"shards" default:"16" min:"1" unit:"shards"`
	WaitReplicas int    `yaml:"wait_replicas" default:"0" min:"0" unit:"replicas"`
}
