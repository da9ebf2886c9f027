package app

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// Reviewers are of the place, else of the workspace, else of the file, and
// every run knows them from its start.
func TestReviewers(t *testing.T) {
	inFolder(t, `
model: {prices: {m: {input: 1, output: 2}}, name: m}
authority: {reviewers: ["slack:U1", "slack:S1"]}
channels:
  "slack:T1:C1": {authority: {reviewers: ["slack:U2", "slack:S2"]}}
  "slack:T1": {authority: {reviewers: ["slack:U3"]}}
  "slack:T2:C1": {authority: {approvers: ["slack:U4"]}}
`)
	c, err := config.Load(config.Flags{}, nobody)
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string][]string{
		"slack:T1:C1": {"slack:U2", "slack:S2"}, "slack:T1:C9": {"slack:U3"},
		"slack:T2:C1": {"slack:U1", "slack:S1"}, "discord:1:2": {"slack:U1", "slack:S1"},
	} {
		if b, err := briefOf(c, place); err != nil || !slices.Equal(b.Reviewers, want) {
			t.Errorf("%s: %v, %v; want %v", place, b.Reviewers, err, want)
		}
	}
	if b, err := TerminalBrief(c, "count", nil, io.Discard); err != nil || !slices.Equal(b.Reviewers, []string{"slack:U1", "slack:S1"}) {
		t.Errorf("the terminal: %v, %v", b.Reviewers, err)
	}
	groups := slackGroups(c)
	slices.Sort(groups)
	if !slices.Equal(groups, []string{"S1", "S2"}) {
		t.Errorf("the members of %v are asked for", groups)
	}
	if a := authorityOf(c).Places["slack:T2:C1"]; !slices.Equal(a.Approvers, []string{"slack:U4"}) {
		t.Errorf("the approvers of the channel are %v", a.Approvers)
	}
}

func TestReviewersAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`authority: {reviewers: ["not a principal!"]}`:                     "authority.reviewers",
		`authority: {reviewer: ["slack:U1"]}`:                              `"reviewers"`,
		`authority: {reviewers: ["slack:U1"], quorum: 2}`:                  "authority.reviewers can be 1",
		`channels: {"slack:T1:C1": {authority: {reviewer: ["slack:U1"]}}}`: `"reviewers"`,
	} {
		inFolder(t, text+"\n")
		if _, err := config.Load(config.Flags{}, nobody); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// nobody is an environment without variables.
func nobody(string) string { return "" }

// inFolder makes a fresh folder with a deckhand.yaml the working directory.
func inFolder(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("deckhand.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
