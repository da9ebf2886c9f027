package api

// This file keeps calls within Discord's rate limits: it learns from response
// headers what each route has left, and counts the bot's calls of the last
// second.

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	perSecond = 45 // of Discord's 50 for all calls of a bot
	maxRoutes = 2048
)

// limits keep the bot within what Discord allows: for each route what the
// headers of its answers say, and so many calls a second together. Other
// replicas are not counted: Discord's refusals are.
type limits struct {
	mu     sync.Mutex
	routes map[string]*allowance
	pause  time.Time   // nothing is sent before
	sent   []time.Time // the calls of the last second, the oldest first
}

// allowance is what a route has left until its reset.
type allowance struct {
	left  int
	reset time.Time
}

func newLimits() *limits { return &limits{routes: map[string]*allowance{}} }

// wait waits for a call's turn. If ctx would end before, it does not wait at all.
func (l *limits) wait(ctx context.Context, method, endpoint string) error {
	route, free := routeOf(method, endpoint)
	if free {
		return ctx.Err()
	}
	for {
		d := l.take(route, time.Now())
		if d <= 0 {
			return ctx.Err()
		}
		if end, has := ctx.Deadline(); has && time.Until(end) < d {
			return &bot.BusyError{After: d}
		}
		if !wait.Sleep(ctx, d) {
			return ctx.Err()
		}
	}
}

// take takes a turn, or says how long to wait for one.
func (l *limits) take(route string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.pause) {
		return l.pause.Sub(now)
	}
	a := l.routes[route]
	if a != nil && !now.Before(a.reset) {
		delete(l.routes, route)
		a = nil
	}
	if a != nil && a.left <= 0 {
		return a.reset.Sub(now)
	}
	if d := l.together(route, now); d > 0 {
		return d
	}
	if a != nil {
		a.left--
	}
	return 0
}

// together counts a call among those of the last second, or says how long to
// wait. What answers interactions is outside of that limit.
func (l *limits) together(route string, now time.Time) time.Duration {
	if strings.Contains(route, " webhooks/") {
		return 0
	}
	for len(l.sent) > 0 && now.Sub(l.sent[0]) >= time.Second {
		l.sent = l.sent[1:]
	}
	if len(l.sent) >= perSecond {
		return time.Second - now.Sub(l.sent[0])
	}
	l.sent = append(l.sent, now)
	return 0
}

// learn reads what an answer says about its route. Busy: it was not served.
func (l *limits) learn(method, endpoint string, status int, h http.Header) error {
	route, _ := routeOf(method, endpoint)
	now := time.Now()
	if status == http.StatusTooManyRequests {
		after := seconds(h.Get("Retry-After"))
		if exact := seconds(h.Get("X-Ratelimit-Reset-After")); exact > 0 {
			after = exact
		}
		if after <= 0 {
			after = BusyPause
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		// An answer without a bucket is not of one route: Cloudflare's, or for all.
		if h.Get("X-Ratelimit-Global") != "" || h.Get("X-Ratelimit-Scope") == "global" || h.Get("X-Ratelimit-Bucket") == "" {
			l.pause = now.Add(after)
		} else {
			l.keep(route, allowance{reset: now.Add(after)}, now)
		}
		return &bot.BusyError{After: after}
	}
	left, err := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	after := seconds(h.Get("X-Ratelimit-Reset-After"))
	if err != nil || after <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.routes[route]; a != nil && now.Before(a.reset) {
		left = min(left, a.left) // answers may come in another order
	}
	l.keep(route, allowance{left: left, reset: now.Add(after)}, now)
	return nil
}

// keep remembers a route; the lock is held.
func (l *limits) keep(route string, a allowance, now time.Time) {
	if len(l.routes) >= maxRoutes {
		maps.DeleteFunc(l.routes, func(_ string, o *allowance) bool { return !now.Before(o.reset) })
	}
	if len(l.routes) < maxRoutes {
		l.routes[route] = &a
	}
}

func seconds(text string) time.Duration {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || s < 0 || s > 86400 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// routeOf is what shares a limit: the method and the path, in which only the
// channel, the server or the webhook counts. Free says that a call is outside
// of all limits: the first answer to an interaction.
func routeOf(method, endpoint string) (route string, free bool) {
	path := endpoint
	if u, err := url.Parse(endpoint); err == nil {
		path = u.Path
	}
	_, path, _ = strings.Cut(path, "/api/")
	parts := strings.Split(path, "/")
	if len(parts) > 0 && strings.HasPrefix(parts[0], "v") {
		parts = parts[1:]
	}
	major := 2
	switch {
	case len(parts) > 0 && parts[0] == "interactions":
		return "", true
	case len(parts) > 0 && parts[0] == "webhooks":
		major = 3
	}
	for i, part := range parts {
		if i >= major && strings.Trim(part, "0123456789") == "" {
			parts[i] = "-"
		}
		if part == "reactions" {
			parts = parts[:i+1]
			break
		}
	}
	return method + " " + strings.Join(parts, "/"), false
}
