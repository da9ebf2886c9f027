package agent

import (
	"slices"
	"testing"
)

// A model chooses what it offers, never what a word of a person's means.
func TestOwnChoices(t *testing.T) {
	for choice, want := range map[string]string{
		"approve": "The choice “approve”", "Approve!": "The choice “Approve!”", " deny ": "The choice “deny”", "+25 %": "The choice “+25 %”", "+7 %": "The choice “+7 %”",
		"Always in this run": "The choice “Always in this run”", "stop": "The choice “stop”", "done": "The choice “done”", "Cancel": "The choice “Cancel”",
		"yes": "yes", "two sections": "two sections", "approve the layout": "approve the layout", "": "", "25 %": "25 %",
	} {
		if got := OwnChoices([]string{"first", choice}); !slices.Equal(got, []string{"first", want}) {
			t.Errorf("%q is offered as %q, want %q", choice, got[1], want)
		}
	}
	for _, word := range decisionWords {
		if OwnChoices([]string{word})[0] == word {
			t.Errorf("a model may offer %q as it is", word)
		}
	}
	if OwnChoices(nil) != nil {
		t.Error("no choices became some")
	}
}
