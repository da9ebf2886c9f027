package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // slim containers have no zone files: 0.4 MB against schedules that cannot start

	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// form is the shape of a text that is more than a text: its name in the
// documentation, and what is wrong with a text that has not got it.
type form struct {
	name  string
	check func(text string) error
}

// forms are what the tags "is" and "keys" name.
var forms = map[string]form{
	"principal": matching("principal", `^(slack:[UWS][A-Za-z0-9]+|discord:&?[0-9]+|mcp:[A-Za-z0-9][A-Za-z0-9._-]*|terminal|&?[A-Za-z0-9][A-Za-z0-9._-]*)$`,
		"a principal: slack:U… (person), slack:S… (user group), discord:ID, discord:&ID (role), mcp:NAME (another agent), terminal, or a bare id"),
	"bot": matching("bot", `^(slack:[BUW][A-Za-z0-9]+|discord:[0-9]+)$`, "a bot: slack:B… or discord:ID"),
	"channel": matching("channel", `^(slack|discord):@?[A-Za-z0-9]+(:[A-Za-z0-9]+)?$`,
		"a channel or a whole workspace: PLATFORM:WORKSPACE:CHANNEL or PLATFORM:WORKSPACE, such as slack:T1:C1"),
	"address": matching("address", `^(slack|discord):@?[A-Za-z0-9]+:[A-Za-z0-9]+(:[A-Za-z0-9.]+)?$`,
		"an address: PLATFORM:WORKSPACE:CHANNEL or PLATFORM:WORKSPACE:CHANNEL:THREAD, such as slack:T1:C1"),
	"host": matching("host", `^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`,
		"a host such as example.com, *.example.com or localhost:8080"),
	"source":    matching("name", `^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`, "a name of at most 32 letters, digits, - and _: names of tools begin with it"),
	"name":      matching("name", `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`, "a name of letters, digits, -, _ and ."),
	"snowflake": matching("Discord id", `^[0-9]+$`, "a Discord id (digits only)"),
	"tool":      matching("tool", `^[A-Za-z0-9_-]{1,64}\*?$`, "the name of a tool, or its beginning with a * behind it, such as crm__*"),
	"path":      matching("path", `^[^\x00]+$`, "a path"),
	"when":      {"times", checkWhen},
	"zone":      {"time zone", checkZone},
	"url":       {"URL", checkURL},
	"document":  {"path or URL", checkDocument},
	"listen":    {"HOST:PORT or off", checkListen},
}

// matching is a form that a pattern describes; like is what a person is told
// who wrote something else.
func matching(name, pattern, like string) form {
	shape := regexp.MustCompile(pattern)
	return form{name, func(text string) error {
		if !shape.MatchString(text) {
			return fmt.Errorf("%q is not %s", text, like)
		}
		return nil
	}}
}

// checkWhen accepts what people write in chat, too: words, five or six fields
// of cron, and "@every D".
func checkWhen(text string) error {
	if strings.Contains(text, "TZ=") {
		return fmt.Errorf("%q names a time zone: write it under the key \"zone\"", text)
	}
	_, err := schedule.Parse(text, time.UTC, time.Unix(0, 0))
	return err
}

// checkZone refuses "Local" as well: it is another zone on every replica.
func checkZone(text string) error {
	if _, err := time.LoadLocation(text); err != nil || text == "Local" || text == "" {
		return fmt.Errorf("%q is not a time zone such as UTC or Europe/Berlin", text)
	}
	return nil
}

// checkURL leaves the text out of its complaint: it may hold a password.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return errors.New("not a URL such as https://example.com/v1 (http or https, without a user)")
	}
	return nil
}

// checkListen accepts "off" and HOST:PORT; an empty host is every interface,
// port 0 picks one.
func checkListen(text string) error {
	_, port, err := net.SplitHostPort(text)
	if _, perr := strconv.ParseUint(port, 10, 16); text != "off" && (err != nil || perr != nil) {
		return fmt.Errorf("%q is not an address to listen on such as 127.0.0.1:8080, :0 or off", text)
	}
	return nil
}
