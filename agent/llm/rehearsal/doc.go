// Package rehearsal is a model that plays a written scene. It understands
// nothing and says so: the demo and tests use it where no endpoint may be
// asked.
//
//	model.go     the model: which entry of the scenario answers a request
//	scenario.go  scenarios, read from YAML
//	value.go     values of a scenario whose strings are templates
//	template.go  what templates can ask of a request
//
// What it answers depends on the request alone: its purpose, its task and its
// turn (the number of assistant messages in it), so a process that was killed
// goes on with the same lines. A scenario is a YAML file:
//
//	name: count
//	says: This run is scripted; no model is asked.
//	turns:
//	  - purpose: work        # required
//	    task: count          # absent: any task
//	    turn: 0              # absent: any turn
//	    when: '{{ answered "read_file" }}' # a condition: fits only where this says true
//	    takes: 300ms         # how long it pretends to think
//	    text: "I look."      # text or calls, or both
//	    calls:
//	      - name: read_file
//	        arguments: {path: '{{ index (lines (result "list_files")) 0 }}', offset: '{{ raw (input "start") }}'}
//
// The first entry that fits is played. The judge accepts every task unless an
// entry says otherwise. Strings are templates; their functions are listed at
// funcs in template.go. A string that is one {{ raw … }} becomes the JSON
// value itself: a number, a list, an object.
//
// What does not live here: the demo's own scenario (cmd/deckhand) and the
// endpoint for tests over HTTP (agent/llm/llmtest).
package rehearsal
