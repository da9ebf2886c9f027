package plan

// This file holds the rule on what a task's programs need (V21): it can be read,
// stays within what any sandbox gives, and names nothing that steers one.

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// The most that a task may ask for; the configuration may allow less.
const (
	mostMemory    = 64 << 30
	mostDisk      = 1 << 40
	mostWall      = 24 * time.Hour
	mostProcesses = 4096
	mostProcessor = 256
	mostListed    = 200
)

var (
	variableShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	packageShape  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?((==|>=|<=|~=|!=|<|>)[A-Za-z0-9.*+!_-]+)?$`)
	hostShape     = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	imageShape    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}$`)
)

// steering are variables that make a program run something else.
var steering = []string{"PATH", "HOME", "TMPDIR", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "BASH_ENV", "ENV", "PYTHONSTARTUP", "NODE_OPTIONS",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GIT_CONFIG_GLOBAL", "GIT_SSH_COMMAND"}

// checkEnvs is V21.
func checkEnvs(d *draft) {
	for _, i := range d.judged() {
		t := d.plan.Tasks[i]
		if t.Env == nil {
			continue
		}
		for _, wrong := range wrongIn(*t.Env) {
			d.fail("V21", t.ID, "env of %s: %s", t.ID, wrong)
		}
	}
}

// wrongIn lists what is wrong, in words.
func wrongIn(e agent.Env) (wrong []string) {
	say := func(is bool, what string) {
		if is {
			wrong = append(wrong, what)
		}
	}
	memory, memoryErr := e.Memory.Bytes()
	disk, diskErr := e.Disk.Bytes()
	wall, wallErr := e.Wall.Duration()
	for name, err := range map[string]error{"memory": memoryErr, "disk": diskErr, "wall": wallErr} {
		if err != nil {
			wrong = append(wrong, name+" "+err.Error())
		}
	}
	say(memory > mostMemory, "more memory than 64 GiB")
	say(disk > mostDisk, "more disk than 1 TiB")
	say(wall > mostWall, "wall is longer than 24h")
	say(e.Processes < 0 || e.Processes > mostProcesses, "processes must be 1 to 4096")
	say(e.Processor < 0 || e.Processor > mostProcessor, "processor must be above 0, 256 at most")
	say(e.Runtime != "" && !slices.Contains(agent.Runtimes, e.Runtime), "the runtime "+e.Runtime+" is none of "+strings.Join(agent.Runtimes, ", "))
	say(e.Image != "" && !imageShape.MatchString(e.Image), "the image is no image's name")
	say(len(e.Packages)+len(e.Files)+len(e.Network)+len(e.Environment) > mostListed, "it lists more than 200 things")
	say(slices.ContainsFunc(e.Packages, not(packageShape)), "a package is a name with an optional version, such as pandas==2.2.3")
	say(slices.ContainsFunc(e.Network, not(hostShape)), "network lists hosts, such as pypi.org or *.example.com")
	say(slices.ContainsFunc(e.Files, outside), "files are paths in the workspace")
	for name := range e.Environment {
		say(!variableShape.MatchString(name), "the variable "+name+" has a name that no shell takes")
		say(slices.Contains(steering, strings.ToUpper(name)), "the variable "+name+" belongs to the sandbox")
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

func not(shape *regexp.Regexp) func(string) bool {
	return func(s string) bool { return !shape.MatchString(s) }
}

// outside reports whether a path cannot lie in the workspace.
func outside(p string) bool {
	return p == "" || strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0) || slices.Contains(strings.Split(p, "/"), "..")
}
