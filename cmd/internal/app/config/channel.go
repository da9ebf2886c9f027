package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// At says where the value of a key comes from: "deckhand.yaml:12", the name of
// a variable or of a flag; empty where it is the default. Keys are written as
// "budget.run.usd", `model.prices["gpt-5"].input`, "schedules[0].when".
func (c Config) At(key string) string { return c.origin[key].String() }

// Given reports whether somebody set the key.
func (c Config) Given(key string) bool {
	_, given := c.origin[key]
	return given
}

// Strays reports whether a secret that stands in the environment goes to an address
// that a file names which was found where the process began: whoever put that file
// there may be nobody who is to have the secret.
func (c Config) Strays(address, secret string) bool {
	from, given := c.origin[secret]
	if c.File != File || c.origin[address].name != File || !given {
		return false
	}
	return from.line == 0 && from.name != File
}

// places are the keys of channels that a channel follows: its own (of a private
// thread its parent's), then its workspace's.
func places(channel string) []string {
	platform, rest, _ := strings.Cut(channel, ":")
	workspace, _, _ := strings.Cut(rest, ":")
	return []string{agent.Outer(channel), platform + ":" + workspace}
}

// in is what the places of a channel say, and where they say nothing the rest
// of the file; "" is the terminal.
func (c Config) in(channel string) Channel {
	whole := Channel{Autonomy: c.Autonomy, PlanApproval: c.PlanApproval, Authority: ChannelAuthority{Reviewers: c.Authority.Reviewers}}
	for _, place := range slices.Backward(places(channel)) { // the channel has the last word
		own := c.Channels[place]
		whole.Autonomy = cmp.Or(own.Autonomy, whole.Autonomy)
		whole.PlanApproval = cmp.Or(own.PlanApproval, whole.PlanApproval)
		if len(own.Authority.Reviewers) > 0 {
			whole.Authority.Reviewers = own.Authority.Reviewers
		}
	}
	return whole
}

// AutonomyIn is the autonomy of runs in a channel.
func (c Config) AutonomyIn(channel string) agent.Autonomy { return c.in(channel).Autonomy }

// ReviewersIn are the people who review the results of a channel's runs.
func (c Config) ReviewersIn(channel string) []string {
	return slices.Clone(c.in(channel).Authority.Reviewers)
}

// PlanApprovalIn is the plan approval of runs in a channel. Where nothing is
// configured, plans with effects are asked in chat and none in the terminal.
func (c Config) PlanApprovalIn(channel string) agent.PlanApproval {
	unset := agent.ApprovePlanEffects
	if channel == "" {
		unset = agent.ApprovePlanNever
	}
	return cmp.Or(c.in(channel).PlanApproval, unset)
}

// LimitsIn is what a run in a channel may spend; "" is the terminal. The text
// says where its money limit was set: a default one (empty) is dropped where
// the model has no price, one that somebody set is not.
func (c Config) LimitsIn(channel string) (l agent.Limits, moneyAt string) {
	l, moneyAt = agent.Limits(c.Budget.Run), c.At("budget.run.usd")
	for _, place := range slices.Backward(places(channel)) { // the channel has the last word
		own, prefix := c.Channels[place].Budget.Run, entry("channels", place)+".budget.run."
		if c.Given(prefix + "usd") {
			l.USD, moneyAt = own.USD, c.At(prefix+"usd")
		}
		if c.Given(prefix + "tokens") {
			l.Tokens = own.Tokens
		}
		if c.Given(prefix + "time") {
			l.Time = own.Time
		}
		if c.Given(prefix + "steps") {
			l.Steps = own.Steps
		}
	}
	return l, moneyAt
}

// PolicyFiles are the files that the rules are read from: no tool changes them.
func (c Config) PolicyFiles() (list []string) {
	if c.Policy != "" {
		list = append(list, c.Policy)
	}
	for _, ch := range c.Channels {
		if ch.Policy != "" {
			list = append(list, ch.Policy)
		}
	}
	return list
}
