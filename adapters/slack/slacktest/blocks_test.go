package slacktest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestBlocks(t *testing.T) {
	s := open(t, Config{})
	long := func(n int) string { return strings.Repeat("ü", n) }
	times := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	numbered := func(n int, one string) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(one, i))
		}
		return strings.Join(out, ",")
	}
	section := func(n int) string {
		return `[{"type":"section","text":{"type":"mrkdwn","text":"` + long(n) + `"}}]`
	}
	button := func(fields string) string { return `[{"type":"actions","elements":[` + fields + `]}]` }
	one := `{"type":"button","action_id":"a%d","text":{"type":"plain_text","text":"ok"}}`
	feedback := `[{"type":"context_actions","elements":[{"type":"feedback_buttons","action_id":"f","positive_button":{"text":{"type":"plain_text","text":"Good"},"value":"positive"},"negative_button":{"text":{"type":"plain_text","text":"Bad"},"value":"negative"}}]}]`
	for _, tt := range []struct {
		name, blocks, code string
		w                  where
	}{
		{"section", section(3000), "", inMessage},
		{"section too long", section(3001), "invalid_blocks", inMessage},
		{"empty text", section(0), "invalid_blocks", inMessage},
		{"section of nothing", `[{"type":"section"}]`, "invalid_blocks", inMessage},
		{"ten fields", `[{"type":"section","fields":[` + times(10, `{"type":"mrkdwn","text":"f"}`) + `]}]`, "", inMessage},
		{"eleven fields", `[{"type":"section","fields":[` + times(11, `{"type":"mrkdwn","text":"f"}`) + `]}]`, "invalid_blocks", inMessage},
		{"field too long", `[{"type":"section","fields":[{"type":"mrkdwn","text":"` + long(2001) + `"}]}]`, "invalid_blocks", inMessage},
		{"header", `[{"type":"header","text":{"type":"plain_text","text":"` + long(150) + `"}}]`, "", inMessage},
		{"header too long", `[{"type":"header","text":{"type":"plain_text","text":"` + long(151) + `"}}]`, "invalid_blocks", inMessage},
		{"header in mrkdwn", `[{"type":"header","text":{"type":"mrkdwn","text":"x"}}]`, "invalid_blocks", inMessage},
		{"context of ten", `[{"type":"context","elements":[` + times(10, `{"type":"mrkdwn","text":"c"}`) + `]}]`, "", inMessage},
		{"context of eleven", `[{"type":"context","elements":[` + times(11, `{"type":"mrkdwn","text":"c"}`) + `]}]`, "invalid_blocks", inMessage},
		{"25 buttons", button(numbered(25, one)), "", inMessage},
		{"26 buttons", button(numbered(26, one)), "invalid_blocks", inMessage},
		{"same action_id", button(times(2, fmt.Sprintf(one, 1))), "invalid_blocks", inMessage},
		{"button text", button(`{"type":"button","text":{"type":"plain_text","text":"` + long(76) + `"}}`), "invalid_blocks", inMessage},
		{"button value", button(`{"type":"button","value":"` + long(2001) + `","text":{"type":"plain_text","text":"ok"}}`), "invalid_blocks", inMessage},
		{"action_id", button(`{"type":"button","action_id":"` + long(256) + `","text":{"type":"plain_text","text":"ok"}}`), "invalid_blocks", inMessage},
		{"style", button(`{"type":"button","style":"green","text":{"type":"plain_text","text":"ok"}}`), "invalid_blocks", inMessage},
		{"option text as a string", button(`{"type":"static_select","options":[{"text":"ok","value":"v"}]}`), "invalid_blocks", inMessage},
		{"option text too long", button(`{"type":"static_select","options":[{"text":{"type":"plain_text","text":"` + long(76) + `"},"value":"v"}]}`), "invalid_blocks", inMessage},
		{"option value too long", button(`{"type":"static_select","options":[{"text":{"type":"plain_text","text":"ok"},"value":"` + long(151) + `"}]}`), "invalid_blocks", inMessage},
		{"block_id twice", `[{"type":"divider","block_id":"x"},{"type":"divider","block_id":"x"}]`, "invalid_blocks", inMessage},
		{"block_id too long", `[{"type":"divider","block_id":"` + long(256) + `"}]`, "invalid_blocks", inMessage},
		{"50 blocks", `[` + times(50, `{"type":"divider"}`) + `]`, "", inMessage},
		{"51 blocks", `[` + times(51, `{"type":"divider"}`) + `]`, "invalid_blocks", inMessage},
		{"100 blocks of a view", `[` + times(100, `{"type":"divider"}`) + `]`, "", inModal},
		{"101 blocks of a view", `[` + times(101, `{"type":"divider"}`) + `]`, "invalid_arguments", inModal},
		{"markdown", `[{"type":"markdown","text":"` + long(12000) + `"}]`, "", inMessage},
		{"markdown together", `[{"type":"markdown","text":"` + long(6001) + `"},{"type":"markdown","text":"` + long(6000) + `"}]`, "invalid_blocks", inMessage},
		{"markdown in a modal", `[{"type":"markdown","text":"x"}]`, "invalid_arguments", inModal},
		{"all text together", `[` + times(5, strings.Trim(section(2700), "[]")) + `]`, "msg_blocks_too_long", inMessage},
		{"feedback", feedback, "", inMessage},
		{"feedback among actions of a modal", feedback, "invalid_arguments", inModal},
		{"plan", `[{"type":"plan","title":"Plan","tasks":[{"type":"task_card","task_id":"1","title":"t","status":"in_progress"}]}]`, "", inMessage},
		{"status of a task", `[{"type":"plan","title":"Plan","tasks":[{"type":"task_card","task_id":"1","title":"t","status":"busy"}]}]`, "invalid_blocks", inMessage},
		{"task without id", `[{"type":"task_card","title":"t"}]`, "invalid_blocks", inMessage},
		{"table", `[{"type":"table","rows":[[{"type":"raw_text","text":"a"}]]}]`, "", inMessage},
		{"unknown", `[{"type":"carousel"}]`, "invalid_blocks", inMessage},
		{"no array", `{"type":"divider"}`, "invalid_blocks_format", inMessage},
		{"input", `[{"type":"input","label":{"type":"plain_text","text":"L"},"element":{"type":"plain_text_input"}}]`, "", inModal},
		{"input without label", `[{"type":"input","element":{"type":"plain_text_input"}}]`, "invalid_arguments", inModal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.Mu.Lock()
			out, err := checkBlocks(s.workspace, json.RawMessage(tt.blocks), tt.w)
			s.Mu.Unlock()
			if tt.code == "" && err != nil || tt.code != "" && (err == nil || err.Error() != tt.code) {
				t.Fatalf("got %v (%+v), want %q", err, err, tt.code)
			}
			if err == nil && !strings.Contains(string(out), `"block_id":"`) {
				t.Errorf("no block_id was given: %s", out)
			}
		})
	}
}

func TestOlderWorkspace(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	plan := json.RawMessage(`[{"type":"plan","title":"Plan"}]`)
	for _, tt := range []struct {
		rejected []string
		fine     bool
	}{{nil, true}, {[]string{"plan", "markdown"}, false}, {[]string{"markdown"}, true}} {
		s.RejectBlocks(tt.rejected...)
		s.Mu.Lock()
		_, err := checkBlocks(s.workspace, plan, inMessage)
		s.Mu.Unlock()
		if (err == nil) != tt.fine {
			t.Errorf("rejecting %v: %v", tt.rejected, err)
		}
	}
}
