package slack

import (
	_ "embed"
	"strings"
)

// Manifest is the app manifest (YAML) that Slack makes the app from: scopes,
// events and commands, each with what it is for.
//
//go:embed manifest.yaml
var Manifest string

// Scopes lists the bot scopes of the manifest.
func Scopes() []string {
	var scopes []string
	_, rest, _ := strings.Cut(Manifest, "    bot:\n")
	for line := range strings.Lines(rest) {
		item, is := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !is {
			break
		}
		scope, _, _ := strings.Cut(item, " ")
		scopes = append(scopes, scope)
	}
	return scopes
}
