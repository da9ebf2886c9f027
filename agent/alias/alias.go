package alias

// This file holds the table, and looks calls up in it.

import (
	"encoding/json"
	"slices"
)

// entry is a function under another name or with other arguments.
type entry struct {
	name string
	tool string // that does it; empty: the name is right already
	// arguments are the other names of arguments, and theirs here.
	arguments map[string]string
	// without is an argument that makes the call another one; empty: none.
	without string
}

// file are the names of a file's argument.
var file = map[string]string{"file": "path", "filename": "path", "file_path": "path"}

// table are the commands of AutoGPT whose names or arguments are others here. The
// first entry that fits counts.
var table = []entry{
	{name: "google", tool: "web_search", arguments: map[string]string{"input": "query"}},
	{name: "google_official_search", tool: "web_search"},
	{name: "search", tool: "web_search"},
	{name: "browse_website", arguments: map[string]string{"question_to_answer": "question"}},
	{name: "clone_repository", arguments: map[string]string{"repository_url": "url", "clone_path": "path"}},
	{name: "write_to_file", arguments: file},
	{name: "write_file", tool: "write_to_file", arguments: map[string]string{"file": "path", "filename": "path", "contents": "text"}},
	{name: "read_file", arguments: file},
	{name: "append_to_file", arguments: file},
	{name: "delete_file", arguments: file},
	{name: "search_files", tool: "list_files", arguments: map[string]string{"directory": "path"}, without: "query"},
	{name: "search_files", arguments: map[string]string{"directory": "path"}},
	{name: "list_files", arguments: map[string]string{"directory": "path"}},
	{name: "execute_python_file", arguments: file},
	{name: "execute_python_code", tool: "run_python"},
	{name: "execute_shell", tool: "run_shell", arguments: map[string]string{"command_line": "command"}},
	{name: "send_tweet", tool: "post_external", arguments: map[string]string{"tweet_text": "text", "tweet": "text"}},
	{name: "task_complete", tool: "finish_task", arguments: map[string]string{"reason": "summary"}},
	{name: "goals_accomplished", tool: "finish_task", arguments: map[string]string{"reason": "summary"}},
	{name: "finish", tool: "finish_task", arguments: map[string]string{"reason": "summary", "response": "summary"}},
}

// Resolve is a call as the function that is offered for it. A call that fits as it
// is, or that no offered function stands for, stays as it is.
func Resolve(name, arguments string, offered func(name string) bool) (string, string) {
	if !slices.ContainsFunc(table, func(e entry) bool { return e.name == name }) {
		return name, arguments
	}
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &args) != nil {
		args = nil // an empty call, or one that is refused for what it is
	}
	for _, e := range table {
		if _, given := args[e.without]; e.name != name || e.without != "" && given {
			continue
		}
		to := name
		if e.tool != "" {
			if to = e.tool; !offered(to) || e.without == "" && offered(name) {
				continue
			}
		}
		return to, renamed(arguments, args, e.arguments)
	}
	return name, arguments
}

// renamed are arguments under their names here.
func renamed(text string, args map[string]json.RawMessage, names map[string]string) string {
	changed := false
	keys := make([]string, 0, len(names))
	for from := range names {
		keys = append(keys, from)
	}
	slices.Sort(keys)
	for _, from := range keys {
		value, given := args[from]
		if _, taken := args[names[from]]; !given || taken {
			continue
		}
		delete(args, from)
		args[names[from]], changed = value, true
	}
	if !changed {
		return text
	}
	out, err := json.Marshal(args)
	if err != nil {
		return text
	}
	return string(out)
}
