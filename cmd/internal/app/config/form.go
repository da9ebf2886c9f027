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

// The shapes of texts that are more than a text. A form's second half is what
// a person is told who wrote something else.
var forms = map[string]struct {
	shape *regexp.Regexp
	like  string
}{
	"principal": {
		regexp.MustCompile(`^(slack:[UWS][A-Za-z0-9]+|discord:&?[0-9]+|terminal|&?[A-Za-z0-9][A-Za-z0-9._-]*)$`),
		"a principal: slack:U… (person), slack:S… (user group), discord:ID, discord:&ID (role), terminal, or a bare id",
	},
	"bot": {
		regexp.MustCompile(`^(slack:[BUW][A-Za-z0-9]+|discord:[0-9]+)$`),
		"a bot: slack:B… or discord:ID",
	},
	"channel": {
		regexp.MustCompile(`^(slack|discord):@?[A-Za-z0-9]+(:[A-Za-z0-9]+)?$`),
		"a channel or a whole workspace: PLATFORM:WORKSPACE:CHANNEL or PLATFORM:WORKSPACE, such as slack:T1:C1",
	},
	"address": {
		regexp.MustCompile(`^(slack|discord):@?[A-Za-z0-9]+:[A-Za-z0-9]+(:[A-Za-z0-9.]+)?$`),
		"an address: PLATFORM:WORKSPACE:CHANNEL or PLATFORM:WORKSPACE:CHANNEL:THREAD, such as slack:T1:C1",
	},
	"host": {
		regexp.MustCompile(`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`),
		"a host such as example.com, *.example.com or localhost:8080",
	},
	"name":      {regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`), "a name of letters, digits, -, _ and ."},
	"snowflake": {regexp.MustCompile(`^[0-9]+$`), "a Discord id (digits only)"},
	"path":      {regexp.MustCompile(`^[^\x00]+$`), "a path"},
}

// checkForm says what is wrong with a text that must have the form.
func checkForm(form, text string) error {
	switch form {
	case "when":
		return checkWhen(text)
	case "zone":
		return checkZone(text)
	case "url":
		return checkURL(text)
	case "listen":
		return checkListen(text)
	}
	f, known := forms[form]
	if !known {
		return fmt.Errorf("no such form: %s", form)
	}
	if !f.shape.MatchString(text) {
		return fmt.Errorf("%q is not %s", text, f.like)
	}
	return nil
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

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		// Without the text: it may hold a password.
		return errors.New("not a URL such as https://example.com/v1 (http or https, without a user)")
	}
	return nil
}

// checkListen accepts "off" and HOST:PORT; an empty host is every interface,
// port 0 picks one.
func checkListen(text string) error {
	if text == "off" {
		return nil
	}
	_, port, err := net.SplitHostPort(text)
	if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n > 65535 {
		return fmt.Errorf("%q is not an address to listen on such as 127.0.0.1:8080, :0 or off", text)
	}
	return nil
}
