package alias_test

import (
	"slices"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/alias"
)

// AutoGPT's commands under their own names and signatures become what is offered;
// a function that is offered under its name is never taken for another.
func TestResolve(t *testing.T) {
	offered := []string{"web_search", "browse_website", "clone_repository", "write_to_file", "read_file", "search_files", "list_files", "execute_python_file", "post_external", "finish_task", "run_python"}
	for _, c := range []struct{ name, arguments, wantName, wantArguments string }{
		{"google", `{"query":"boats"}`, "web_search", `{"query":"boats"}`},
		{"google", `{"input":"boats"}`, "web_search", `{"query":"boats"}`},
		{"browse_website", `{"url":"https://a.example","question":"who?"}`, "browse_website", `{"url":"https://a.example","question":"who?"}`},
		{"clone_repository", `{"repository_url":"https://a.example/x","clone_path":"x"}`, "clone_repository", `{"path":"x","url":"https://a.example/x"}`},
		{"write_to_file", `{"file":"a.md","text":"x"}`, "write_to_file", `{"path":"a.md","text":"x"}`},
		{"write_to_file", `{"path":"a.md","text":"x"}`, "write_to_file", `{"path":"a.md","text":"x"}`},
		{"write_to_file", `{"path":"a.md","file":"b.md"}`, "write_to_file", `{"path":"a.md","file":"b.md"}`},
		{"search_files", `{"directory":"src"}`, "list_files", `{"path":"src"}`},
		{"search_files", `{"query":"TODO","path":"src"}`, "search_files", `{"query":"TODO","path":"src"}`},
		{"search_files", `{"query":"TODO","directory":"src"}`, "search_files", `{"path":"src","query":"TODO"}`},
		{"execute_python_file", `{"file":"a.py"}`, "execute_python_file", `{"path":"a.py"}`},
		{"send_tweet", `{"text":"hi"}`, "post_external", `{"text":"hi"}`},
		{"task_complete", `{"reason":"all is there"}`, "finish_task", `{"summary":"all is there"}`},
		{"execute_shell", `{"command_line":"ls"}`, "execute_shell", `{"command_line":"ls"}`}, // run_shell is not offered
		{"fly", `{"to":"moon"}`, "fly", `{"to":"moon"}`},
		{"google", ``, "web_search", ``},
		{"google", `no JSON`, "web_search", `no JSON`},
	} {
		name, arguments := alias.Resolve(c.name, c.arguments, func(n string) bool { return slices.Contains(offered, n) })
		if name != c.wantName || arguments != c.wantArguments {
			t.Errorf("%s %s: %s %s, want %s %s", c.name, c.arguments, name, arguments, c.wantName, c.wantArguments)
		}
	}
	if name, _ := alias.Resolve("search", `{"query":"x"}`, func(n string) bool { return n == "search" || n == "web_search" }); name != "search" {
		t.Errorf("a tool of that very name became %s", name)
	}
}
