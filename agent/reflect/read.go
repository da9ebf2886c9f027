package reflect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
)

// This file tells the formats of transcripts apart and reads journals; messages
// and ReAct text have files of their own.

// Read reads a transcript of any format. Event numbers are the seq of a
// journal, the index into the messages, or the index of the model's turn in
// ReAct text, both from 0. It returns ErrNoTranscript, wrapped, and says what
// is wrong with data that is nearly one.
func Read(data []byte) (*Transcript, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if len(data) == 0 {
		return nil, fmt.Errorf("%w; the input is empty", ErrNoTranscript)
	}
	if data[0] != '{' && data[0] != '[' {
		return readReAct(string(data))
	}
	if json.Valid(data) {
		return readValue(data)
	}
	return readLines(data)
}

// readValue reads data that is one JSON value.
func readValue(data []byte) (*Transcript, error) {
	if data[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, fmt.Errorf("%w; %w", ErrNoTranscript, err)
		}
		return readMessages(list, nil, "message")
	}
	var whole struct {
		Messages  []json.RawMessage `json:"messages"`
		Tools     json.RawMessage   `json:"tools"`
		Functions json.RawMessage   `json:"functions"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("%w; %w", ErrNoTranscript, err)
	}
	if whole.Messages != nil {
		return readMessages(whole.Messages, toolNames(whole.Tools, whole.Functions), "message")
	}
	return readLines(data)
}

// readLines reads JSON lines: events of a journal or messages.
func readLines(data []byte) (*Transcript, error) {
	var lines []json.RawMessage
	if json.Valid(data) {
		lines = append(lines, data) // one object, perhaps over several lines
	} else {
		for i, l := range bytes.Split(data, []byte("\n")) {
			l = bytes.TrimSpace(l)
			if len(l) == 0 {
				continue
			}
			if !json.Valid(l) {
				return nil, fmt.Errorf("%w; neither the whole input nor line %d is JSON", ErrNoTranscript, i+1)
			}
			lines = append(lines, l)
		}
	}
	var first struct {
		Kind string `json:"kind"`
		Role string `json:"role"`
	}
	if json.Unmarshal(lines[0], &first) == nil && first.Kind != "" && first.Role == "" {
		return readJournal(lines)
	}
	return readMessages(lines, nil, "line")
}

func readJournal(lines []json.RawMessage) (*Transcript, error) {
	t := &Transcript{Format: JournalFormat}
	runs := map[agent.RunID]*Journal{}
	for i, l := range lines {
		var e agent.Event
		switch err := json.Unmarshal(l, &e); {
		case errors.Is(err, agent.ErrNewer):
			t.Newer++
			continue
		case err != nil:
			return nil, fmt.Errorf("%w; event %d of the journal: %w", ErrNoTranscript, i+1, err)
		}
		j := runs[e.Run]
		if j == nil {
			j = &Journal{}
			runs[e.Run] = j
			t.journals = append(t.journals, j)
		}
		j.Apply(e)
		// what compares runs or asks a model cannot be found again from events
		if f, is := e.Body.(agent.Finding); is && (f.Rule == agent.RulePrecedent || f.Rule == agent.RuleCheckIn) {
			t.recorded = append(t.recorded, f)
		}
	}
	for _, j := range t.journals {
		for _, id := range j.Strands() {
			t.add(j.Trace(id))
		}
	}
	return t, nil
}
