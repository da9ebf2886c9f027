package mcp

// This file keeps the secrets of a server's configuration out of everything that
// it says: results, errors, and what it wrote when it died.

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// shortestSecret is the shortest value that is looked for: a shorter one would be
// found in innocent texts.
const shortestSecret = 6

// secrets replaces values by a mark.
type secrets struct{ with *strings.Replacer }

// hiddenMark stands for a secret.
const hiddenMark = "[secret]"

// newSecrets hides the values of the configuration, and the forms in which a
// server may repeat them.
func newSecrets(c Config) secrets {
	var pairs []string
	for _, s := range c.Secrets {
		if len(s) < shortestSecret {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), base64.StdEncoding.EncodeToString([]byte(s))} {
			pairs = append(pairs, form, hiddenMark)
		}
	}
	if len(pairs) == 0 {
		return secrets{}
	}
	return secrets{strings.NewReplacer(pairs...)}
}

// hide is the text without secrets.
func (s secrets) hide(text string) string {
	if s.with == nil {
		return text
	}
	return s.with.Replace(text)
}
