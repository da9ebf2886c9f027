package main

import (
	"regexp"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// jobCommand notes each of its runs, and goes on until a file lets it.
const jobCommand = "echo x >> ran; until [ -e go ]; do sleep 0.05; done; echo all is through"

var jobID = regexp.MustCompile(`job_[0-9a-f]{16}`)

// jobPlay starts a job and waits for it again and again until it is over.
func jobPlay(r llmtest.Request) llmtest.Reply {
	if r.Purpose != llm.Work {
		return play{intake: []llm.Call{planOf(task("t", []string{"start_job", "job_status"}))}}.answer(r)
	}
	if r.Turn == 0 {
		return llmtest.Calls(call("start_job", object{"command": jobCommand, "name": "the tests"}))
	}
	said := ""
	for _, m := range r.Messages {
		if m.Role == llm.Tool {
			said = m.Content
		}
	}
	if regexp.MustCompile(`exited|killed|lost|denied`).MatchString(said) {
		return llmtest.Calls(call("finish_task", object{"summary": "done", "outputs": []object{{"name": "out_t", "value": said}}}))
	}
	return llmtest.Calls(call("job_status", object{"id": string(jobID.Find(r.Body)), "wait": 60}))
}
