package sandbox

// This file is the drivers docker and podman: a container of an image, made
// and removed by the engine's own client. Folders of the host are mounted, so
// the engine is one of this host.

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// engineTime bounds a word with the engine: a version, a removal.
const engineTime = 10 * time.Second

// isEngine reports whether a driver is an engine for containers.
func isEngine(d Driver) bool { return d == Docker || d == Podman }

// engineVersion asks the engine for its version; an error says what is missing.
func engineVersion(ctx context.Context, d Driver) (string, error) {
	client, err := exec.LookPath(string(d))
	if err != nil {
		return "", fmt.Errorf("%w: there is no %s in PATH", ErrUnavailable, d)
	}
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	field := "{{.Server.Version}}"
	if d == Podman {
		field = "{{.Client.Version}}" // it has no server
	}
	cmd := exec.CommandContext(ctx, client, "version", "--format", field) //nolint:gosec // docker or podman
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: the engine does not answer: %s", ErrUnavailable, firstLine(complaints.Bytes()))
	}
	return "version " + strings.TrimSpace(string(out)), nil
}

// prepareEngine makes the command that runs a container.
func prepareEngine(o order) (*running, error) {
	d, s := o.Driver, o.Spec
	client, err := exec.LookPath(string(d))
	if err != nil {
		return nil, fmt.Errorf("there is no %s in PATH", d)
	}
	if s.Image == "" {
		return nil, errors.New("no image is named: set sandbox.image, or image in the task's env")
	}
	name := "deckhand-" + strings.ToLower(rand.Text())
	r := &running{remote: true}
	if len(s.Network) > 0 {
		if runtime.GOOS != "linux" { // the container finds the proxy's socket and this program in folders of the host
			return nil, fmt.Errorf("the driver %s lets a command reach some hosts only where the engine is this Linux host's own", d)
		}
		if s, err = addProxy(o, r); err != nil {
			r.cleanUp()
			return nil, err
		}
	}
	if s.Scratch != "" {
		r.scratch = []string{s.Scratch}
	}
	r.cmd = exec.Command(client, containerArguments(d, name, r.proxyDir, s)...) //nolint:gosec,noctx // what it runs is what it is for; its supervisor ends it
	r.cmd.Env = os.Environ()                                                    // the supervisor's, which has little
	r.cmd.SysProcAttr = commandAttributes()
	tell := func(words ...string) string {
		ctx, cancel := context.WithTimeout(context.Background(), engineTime)
		defer cancel()
		out, err := exec.CommandContext(ctx, client, words...).Output() //nolint:gosec // docker or podman
		if err != nil {
			return "" // it is gone already
		}
		return strings.TrimSpace(string(out))
	}
	var once sync.Once
	r.kill = func() { once.Do(func() { tell("kill", name) }) }
	r.starved = func() bool { return tell("inspect", "--format", "{{.State.OOMKilled}}", name) == "true" }
	r.clean = append(r.clean, func() { tell("rm", "--force", "--volumes", name) })
	return r, nil
}

// forwarderThreads are those of the way to the proxy, which engines count as processes.
const forwarderThreads = 32

// containerArguments are the client's, for one container that runs once. Its own
// network has nothing but itself; the proxy's socket, where there is one, is a
// file in the folder that is mounted.
func containerArguments(d Driver, name, proxyDir string, s Spec) []string {
	most := s.Processes + 2
	if proxyDir != "" {
		most += forwarderThreads
	}
	room := strconv.FormatInt(s.Disk, 10)
	args := []string{"run", "--name", name, "--label", "deckhand=sandbox", "--interactive", "--network", "none",
		"--memory", strconv.FormatInt(s.Memory, 10), "--memory-swap", strconv.FormatInt(s.Memory, 10),
		"--cpus", strconv.FormatFloat(s.Processor, 'g', -1, 64), "--pids-limit", strconv.Itoa(most),
		"--ulimit", "fsize=" + room, "--ulimit", "core=0", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--user", strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid()), "--hostname", "sandbox",
		"--tmpfs", "/tmp:rw,nosuid,nodev,mode=1777,size=" + room}
	if d == Docker {
		args = append(args, "--init") // podman's needs a package of its own; what is left ends with the container there as well
	}
	mount := func(from, to string, readOnly bool) { args = append(args, "--mount", bind(from, to, readOnly)) }
	if s.Dir != "" {
		mount(s.Dir, s.Dir, s.ReadOnly)
	}
	for _, p := range s.Hide {
		if info, err := os.Lstat(p); err == nil && info.IsDir() {
			args = append(args, "--tmpfs", p+":ro,size=4096")
		} else if err == nil {
			mount(os.DevNull, p, true)
		}
	}
	if s.Scratch != "" {
		mount(s.Scratch, Work, false)
	} else {
		args = append(args, "--tmpfs", Work+":rw,nosuid,nodev,mode=1777,size="+room)
	}
	if proxyDir != "" {
		mount(proxyDir, proxyFolder, true)
	}
	for _, p := range s.Read {
		mount(p, p, true)
	}
	for _, p := range s.Write {
		mount(p, p, false)
	}
	env := environment(s, "/tmp", "/tmp", Work)
	if s.Env["PATH"] == "" {
		delete(env, "PATH") // the image's own
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "--env", name+"="+env[name])
	}
	return append(append(args, "--workdir", s.folder(), "--entrypoint", s.Command[0], s.Image), s.Command[1:]...)
}

// bind is a file or a folder of this host in a container, as --mount has it.
func bind(from, to string, readOnly bool) string {
	text := "type=bind,source=" + from + ",target=" + to
	if readOnly {
		text += ",readonly"
	}
	return text
}
