package redact

import (
	"regexp"
	"slices"
	"strings"
)

// shape is a kind of token that is known by its look.
type shape struct {
	name string
	has  []string // one of them stands in each such token: looked for first
	look *regexp.Regexp
}

// mayStand reports whether a text is worth a closer look.
func (k shape) mayStand(text string) bool {
	if k.has == nil {
		return sixBetweenDots(text)
	}
	return slices.ContainsFunc(k.has, func(h string) bool { return strings.Contains(text, h) })
}

// sixBetweenDots reports whether six characters stand between two dots somewhere,
// as in Discord's tokens.
func sixBetweenDots(text string) bool {
	for i := strings.IndexByte(text, '.'); i >= 0 && i+7 < len(text); {
		if text[i+7] == '.' {
			return true
		}
		next := strings.IndexByte(text[i+1:], '.')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// shapes are the tokens that their issuers made to be found (the prefixes and
// lengths are the issuers' own, as secret scanners use them). Each pattern wants a
// whole token, so that a text that only speaks of one ("tokens begin with xoxb-")
// stays. An underscore may have Markdown's backslash before it.
var shapes = []shape{
	{"Slack token", []string{"xox", "xapp-"}, regexp.MustCompile(`\b(?:xox[abeoprs]-(?:\d+-)?[A-Za-z0-9-]{20,}|xapp-\d-[A-Z0-9]{8,}-\d+-[a-z0-9]{20,})\b`)},
	{"Slack webhook", []string{"hooks.slack.com/"}, regexp.MustCompile(`https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,}`)},
	{"Discord token", nil, regexp.MustCompile(`\b[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40}\b`)},
	{"Discord webhook", []string{"/api/webhooks/"}, regexp.MustCompile(`https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,}`)},
	{"GitHub token", []string{"ghp", "gho", "ghu", "ghs", "ghr", "github"}, regexp.MustCompile(`\b(?:gh[pousr]\\?_[A-Za-z0-9]{36,251}|github\\?_pat\\?_[A-Za-z0-9]{22}\\?_[A-Za-z0-9]{59})\b`)},
	{"GitLab token", []string{"glpat-"}, regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"AWS key", []string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z2-7]{16}\b`)},
	{"Google key", []string{"AIza"}, regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}\b`)},
	{"Google token", []string{"ya29."}, regexp.MustCompile(`\bya29\.[A-Za-z0-9_-]{40,}`)},
	{"model key", []string{"sk-"}, regexp.MustCompile(`\bsk-(?:proj-|ant-[a-z0-9]+-|svcacct-|or-v1-)?[A-Za-z0-9_-]{32,}`)},
	{"Stripe key", []string{"k_live", "k_test", `k\_live`, `k\_test`}, regexp.MustCompile(`\b[rs]k\\?_(?:live|test)\\?_[A-Za-z0-9]{24,}\b`)},
	{"npm token", []string{"npm"}, regexp.MustCompile(`\bnpm\\?_[A-Za-z0-9]{36}\b`)},
	{"PyPI token", []string{"pypi-"}, regexp.MustCompile(`\bpypi-AgE[A-Za-z0-9_-]{50,}`)},
	{"Hugging Face token", []string{"hf_", `hf\_`}, regexp.MustCompile(`\bhf\\?_[A-Za-z0-9]{34,}\b`)},
	{"JWT", []string{"eyJ"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}`)},
	{"private key", []string{"PRIVATE KEY"}, regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]{20,}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]{40,})`)},
	{"password in an address", []string{"://"}, regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://[^\s/:@"'<>]*:)[^\s/:@"'<>\[\]$\{\}*]{6,}(@[A-Za-z0-9])`)},
}
