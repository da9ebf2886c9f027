package reflect

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// label begins a part of a ReAct text: "Thought:", "**Action 2:**", "action_input：".
var label = regexp.MustCompile(`(?i)^[\s>#*_-]*(thoughts?|action[ _-]*input|action|act|observation|obs|final[ _-]*answer|question|human|user)\s*\d*\s*[*_]*\s*[:：][*_]*[ \t]*`)

// called is an action that carries its input: Search[foo], search(foo).
var called = regexp.MustCompile(`(?s)^([\w.:-]+)\s*[\[(](.*)[\])]\s*$`)

// part is a labelled stretch of a ReAct text.
type part struct{ name, text string }

func parts(text string) []part {
	var list []part
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if at := label.FindStringSubmatchIndex(line); at != nil {
			list = append(list, part{labelName(line[at[2]:at[3]]), line[at[1]:]})
		} else if n := len(list); n > 0 {
			list[n-1].text += "\n" + line
		}
	}
	return list
}

func labelName(s string) string {
	s = strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(s))
	switch s {
	case "thoughts":
		return "thought"
	case "act":
		return "action"
	case "obs":
		return "observation"
	case "human", "user":
		return "question"
	}
	return s
}

// react is a ReAct text on its way to a trace.
type react struct {
	trace *Trace
	turns uint64
	words string // of the turn under way
	begun bool   // a turn is under way
	step  *Step  // its call
}

// readReAct reads Thought, Action, Action Input and Observation.
func readReAct(text string) (*Transcript, error) {
	list := parts(text)
	seen := map[string]int{}
	for _, p := range list {
		seen[p.name]++
	}
	if seen["thought"] < 2 && (seen["action"] == 0 || seen["thought"]+seen["observation"]+seen["actioninput"] == 0) {
		return nil, fmt.Errorf("%w; the text has no Thought and Action", ErrNoTranscript)
	}
	r := react{trace: &Trace{}}
	for _, p := range list {
		r.take(p.name, strings.TrimSpace(p.text))
	}
	if r.step == nil {
		r.end() // a call without its observation is not over
	}
	t := &Transcript{Format: ReActFormat}
	t.add(r.trace)
	return t, nil
}

func (r *react) take(name, text string) {
	switch name {
	case "question":
		r.end()
		r.trace.Push(Step{Kind: Person, Event: r.turns, Text: text})
	case "thought":
		r.end()
		r.begun, r.words = true, text
	case "finalanswer":
		if r.step != nil {
			r.end()
		}
		r.begun, r.words = true, text
		r.end()
	case "action":
		if r.step != nil {
			r.end()
		}
		r.begun = true
		r.act(text)
	case "actioninput":
		if r.step != nil {
			r.step.Arguments = unfence(text)
		}
	case "observation":
		r.observe(text)
	}
}

// act reads an action in one of its spellings. "None" is no action.
func (r *react) act(text string) {
	text = unfence(text)
	var object struct {
		Action      string          `json:"action"`
		ActionInput json.RawMessage `json:"action_input"`
		Name        string          `json:"name"`
		Arguments   json.RawMessage `json:"arguments"`
	}
	s := Step{Tool: text}
	if m := called.FindStringSubmatch(text); m != nil {
		s.Tool, s.Arguments = m[1], m[2]
	} else if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &object) == nil {
		s.Tool, s.Arguments = object.Action+object.Name, string(object.ActionInput)+string(object.Arguments)
	}
	switch strings.ToLower(s.Tool) {
	case "", "none", "n/a", "finish", "final answer":
		if s.Arguments != "" {
			r.words = s.Arguments
		}
		return
	}
	s.Tool = strings.Trim(s.Tool, "`*\"' ")
	s.Artifact = writes(s.Tool)
	r.step = &s
}

func (r *react) observe(text string) {
	if !r.begun {
		return
	}
	invalid := strings.Contains(strings.ToLower(text), "invalid format") || strings.Contains(strings.ToLower(text), "invalid or incomplete response")
	if r.step == nil {
		r.prose(invalid)
		return
	}
	r.step.Text = text
	r.step.judge()
	r.step.Unusable = r.step.Unusable || invalid
	r.end()
}

// end completes the turn under way.
func (r *react) end() {
	if !r.begun {
		return
	}
	if r.step == nil {
		r.prose(r.words == "")
		return
	}
	if r.words != "" {
		r.trace.Push(Step{Event: r.turns, Kind: Said, Text: r.words})
	}
	r.step.Event, r.step.Turn = r.turns, r.turns+1
	r.trace.Push(*r.step)
	*r = react{trace: r.trace, turns: r.turns + 1}
}

func (r *react) prose(unusable bool) {
	r.trace.Push(Step{Event: r.turns, Kind: Prose, Text: r.words, Unusable: unusable})
	*r = react{trace: r.trace, turns: r.turns + 1}
}

// unfence takes a text out of a code block.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	if rest, is := strings.CutPrefix(text, "```"); is {
		if _, body, multi := strings.Cut(rest, "\n"); multi {
			rest = body
		}
		return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	return text
}
