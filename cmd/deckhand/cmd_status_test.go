package main

import (
	"bytes"
	"strings"
	"testing"

	botcard "github.com/deckhand-bot/deckhand/bot/card"
)

// What a run waits for stands below its row and moves no column of the others.
func TestStatusKeepsItsColumns(t *testing.T) {
	var out bytes.Buffer
	a := &cli{out: &out}
	list := []botcard.Status{
		{Run: "aaaaaaaaaaaaaaaa", Goal: "first", State: "waiting", Tokens: 5, WaitingFor: "plan q1: May I?"},
		{Run: "bbbbbbbbbbbbbbbb", Goal: "second", State: "cancelled", Tokens: 123456},
		{Run: "cccccccccccccccc", Goal: "third", State: "waiting", WaitingFor: "approval q2: May I call \u202eit?"},
	}
	if err := a.printStatus(list); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines, want 6:\n%s", len(lines), &out)
	}
	column := strings.Index(lines[0], "GOAL")
	for n, goal := range map[int]string{1: "first", 3: "second", 4: "third"} {
		if got := strings.Index(lines[n], goal); got != column {
			t.Errorf("%q begins at %d, its heading at %d:\n%s", goal, got, column, &out)
		}
	}
	for n, want := range map[int]string{2: "plan q1: May I?", 5: "approval q2: May I call it?"} {
		if got := strings.TrimSpace(lines[n]); got != "waits for "+want {
			t.Errorf("line %d is %q, want %q", n, got, want)
		}
	}
}
