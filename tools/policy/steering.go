package policy

// Files that make other programs act: who writes one of them decides what git,
// an editor, a shell or CI does later, outside of every question.

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// steeringNames are files and folders that other programs obey, by name. A
// folder stands for everything in it.
var steeringNames = []string{
	// git
	".gitattributes", ".gitconfig", ".githooks", ".gitmodules", ".husky", ".lefthook.yml", "lefthook.yml", ".pre-commit-config.yaml",
	// continuous integration
	".buildkite", ".circleci", ".drone.yml", ".github", ".gitlab", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile",
	// editors and coding agents
	".claude", ".cursor", ".devcontainer", ".editorconfig", ".exrc", ".idea", ".mcp.json", ".vimrc", ".vscode", ".zed",
	// shells, and what runs when a folder is entered
	".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".direnv", ".env", ".envrc", ".mise.toml", ".profile", ".tool-versions", ".zlogin", ".zprofile", ".zshenv", ".zshrc",
	// programs that read their settings from the home folder
	".aws", ".cargo", ".config", ".curlrc", ".docker", ".gnupg", ".kube", ".netrc", ".npmrc", ".pip", ".pypirc", ".ssh", ".wgetrc", ".yarnrc", ".yarnrc.yml",
}

// steering is the first of the paths that other programs obey; empty: none.
func steering(paths []string) string {
	for _, p := range paths {
		for part := range strings.SplitSeq(p, "/") {
			if slices.Contains(steeringNames, workspace.Fold(part)) {
				return p
			}
		}
	}
	return ""
}
