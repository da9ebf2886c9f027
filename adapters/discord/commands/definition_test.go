package commands

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"
)

// Discord takes at most 25 options at each level, 8,000 characters in all, and
// required options first.
func TestDefinitionsFit(t *testing.T) {
	t.Parallel()
	for _, d := range Definitions("") {
		size := utf8.RuneCountInString(d.Name + d.Description)
		var walk func(list []Option, depth int)
		walk = func(list []Option, depth int) {
			optional := false
			for _, o := range list {
				size += utf8.RuneCountInString(o.Name + o.Description)
				for _, c := range o.Choices {
					size += utf8.RuneCountInString(c.Name + fmt.Sprint(c.Value))
				}
				if n := utf8.RuneCountInString(o.Description); n < 1 || n > 100 || utf8.RuneCountInString(o.Name) > 32 {
					t.Errorf("the option %s: %q", o.Name, o.Description)
				}
				if o.Required && optional {
					t.Errorf("%s is required behind an optional one", o.Name)
				}
				optional = optional || o.Type > discordgo.ApplicationCommandOptionSubCommandGroup && !o.Required
				walk(o.Options, depth+1)
			}
			if len(list) > 25 || depth > 3 {
				t.Errorf("%d options at depth %d", len(list), depth)
			}
		}
		walk(d.Options, 0)
		if size > 8000 {
			t.Errorf("%s has %d characters", d.Name, size)
		}
	}
}
