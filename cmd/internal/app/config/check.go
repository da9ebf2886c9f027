package config

import (
	"fmt"
	"slices"
	"strings"
)

// complete fills in what follows from other keys and refuses what no single
// key shows to be wrong.
func (r *reader) complete(c *Config) {
	if c.Model.Fast == "" {
		c.Model.Fast = c.Model.Name
	}
	for name, p := range c.Model.Prices {
		if !c.Given(entry("model.prices", name) + ".cached") {
			p.Cached = p.Input
			c.Model.Prices[name] = p
		}
	}
	r.reachable(c, "authority.approvers", c.Authority.Approvers)
	r.reachable(c, "authority.reviewers", c.Authority.Reviewers)
	names := map[string]string{}
	for i, s := range c.Schedules {
		at := fmt.Sprintf("schedules[%d]", i)
		if (s.Report == "") == (s.Goal == "") {
			r.reject(at, `one of "report" and "goal" is needed, and only one`)
		}
		if first, twice := names[s.Name]; twice {
			r.reject(at+".name", fmt.Sprintf("%q is taken: the first is at %s", s.Name, first))
		}
		names[s.Name] = c.At(at + ".name")
		if s.Zone == "" {
			c.Schedules[i].Zone = c.Zone
		}
	}
}

// reachable refuses a quorum that the people of a key could never reach. How
// many a group or a role has is not known here.
func (r *reader) reachable(c *Config, key string, people []string) {
	several := func(p string) bool { return strings.HasPrefix(p, "slack:S") || strings.Contains(p, "&") }
	if len(people) == 0 || slices.ContainsFunc(people, several) {
		return
	}
	most, but := len(people), ""
	if !c.Authority.RequesterMayApprove {
		most, but = most-1, " when one of them is the requester"
	}
	if c.Authority.Quorum > 1 && c.Authority.Quorum > most {
		r.reject("authority.quorum", fmt.Sprintf("%d people must approve, but %s can be %d%s: nothing would ever be approved", c.Authority.Quorum, key, most, but))
	}
}

// reject notes a problem at a key.
func (r *reader) reject(key, text string) { r.problem(r.origin[key], key+": "+text) }
