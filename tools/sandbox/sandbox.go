package sandbox

// The drivers: which there are, which work here, which is used.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Driver is a way to keep a command to its specification.
type Driver string

// The drivers. Auto is the strongest that works here.
const (
	Auto       Driver = "auto"
	Child      Driver = "child"
	Bubblewrap Driver = "bubblewrap"
	Docker     Driver = "docker"
	Podman     Driver = "podman"
	Kubernetes Driver = "kubernetes"
)

// Drivers are all drivers that can be named, in the order in which Auto tries
// them: the quickest first of those that are alike strong. It takes an engine
// only where an image is configured, and a cluster never: that one has to be named.
var Drivers = []Driver{Bubblewrap, Podman, Docker, Child, Kubernetes}

// Config says how commands are run. It needs Self.
type Config struct {
	// Self starts this program so that it calls Main with the arguments behind.
	Self   []string
	Driver Driver // empty: Auto
	// Image is the container image where a specification names none.
	Image string
	// Network are the hosts that commands may reach which say that they need them.
	Network []string
	// AllowPrivate are those of them that may have loopback and private
	// addresses; Offline cuts off all others.
	AllowPrivate []string
	Offline      bool
	// Read are files and folders of the host that every command may read.
	Read []string
	// Cluster is the driver kubernetes'.
	Cluster Cluster
}

// Sandbox runs commands. It may be used from many goroutines. Making one costs
// nothing: the driver is looked for when the first command needs it.
type Sandbox struct {
	c Config

	mu     sync.Mutex
	chosen Driver
}

// New returns a sandbox.
func New(c Config) (*Sandbox, error) {
	if len(c.Self) == 0 {
		return nil, fmt.Errorf("%w: Config.Self is empty", ErrSpec)
	}
	if c.Driver == "" {
		c.Driver = Auto
	}
	if c.Driver != Auto && !slices.Contains(Drivers, c.Driver) {
		return nil, fmt.Errorf("%w: there is no driver %q", ErrSpec, c.Driver)
	}
	return &Sandbox{c: c}, nil
}

// orderVariable hands an order to a supervisor: its environment is readable for
// this user alone, and not for the command.
const orderVariable = "DECKHAND_SANDBOX"

// order is what a supervisor is to do. Note: it says how it went at descriptor 3.
type order struct {
	Driver Driver   `json:"driver"`
	Spec   Spec     `json:"spec"`
	Self   []string `json:"self"`
	Note   bool     `json:"note,omitempty"`
	// Bare: the confined process has no namespaces of its own.
	Bare bool `json:"bare,omitempty"`
	// AllowPrivate and Offline are the configuration's.
	AllowPrivate []string `json:"allow_private,omitempty"`
	Offline      bool     `json:"offline,omitempty"`
}

// Command is a command in the sandbox, not started: like exec.CommandContext's,
// with pipes, signals (SIGTERM ends it within two seconds, SIGINT at once) and
// an exit code. It and all it started end with the context, with this process,
// and when the command itself ends. Where a limit ends it, the last line of its
// stderr says so, and its exit code is 137. Memory, processes, disk and wall
// time are bounded; what it puts out is for the caller to bound.
func (s *Sandbox) Command(ctx context.Context, spec Spec) (*exec.Cmd, error) {
	driver, err := s.Driver(ctx)
	if err != nil {
		return nil, err
	}
	return s.command(ctx, driver, spec, false)
}

func (s *Sandbox) command(ctx context.Context, driver Driver, spec Spec, note bool) (*exec.Cmd, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if driver == Kubernetes {
		return nil, fmt.Errorf("%w: the driver kubernetes runs commands to their end and holds none that is talked to or goes on by itself", ErrUnavailable)
	}
	spec = spec.withDefaults()
	if spec.Image == "" {
		spec.Image = s.c.Image
	}
	spec.Read = append(slices.Clone(spec.Read), s.c.Read...)
	text, err := json.Marshal(order{Driver: driver, Spec: spec, Self: s.c.Self, Note: note, AllowPrivate: s.c.AllowPrivate, Offline: s.c.Offline})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	cmd := exec.CommandContext(ctx, s.c.Self[0], s.c.Self[1:]...) //nolint:gosec // this program itself
	cmd.Env = append(ownEnvironment(), orderVariable+"="+string(text))
	cmd.SysProcAttr = supervisorAttributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(endNow) }
	cmd.WaitDelay = 10 * time.Second
	return cmd, nil
}

// Driver is the driver that is used: the configured one, or the strongest that
// works here. An error says what is missing.
func (s *Sandbox) Driver(ctx context.Context) (Driver, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chosen != "" {
		return s.chosen, nil
	}
	candidates := Drivers
	if s.c.Driver != Auto {
		candidates = []Driver{s.c.Driver}
	}
	var missing []error
	for _, d := range candidates {
		if s.c.Driver == Auto && (d == Kubernetes || isEngine(d) && s.c.Image == "") {
			continue
		}
		_, err := s.try(ctx, d)
		if err == nil {
			s.chosen = d
			return d, nil
		}
		missing = append(missing, fmt.Errorf("%s: %w", d, err))
	}
	return "", errors.Join(missing...)
}

// Config is what the sandbox was made of.
func (s *Sandbox) Config() Config { return s.c }

// Network are the hosts that commands may reach which say that they need them.
func (s *Sandbox) Network() []string { return s.c.Network }

// Isolates reports whether commands see neither the host's files nor the
// network, whatever they do: with the drivers for that, or where the kernel
// takes both from a plain process.
func (s *Sandbox) Isolates(ctx context.Context) bool {
	d, err := s.Driver(ctx)
	return err == nil && (d != Child || childIsolates())
}

// CanIsolate is Isolates without starting anything: false where it is certain
// that no driver that may be used does.
func (s *Sandbox) CanIsolate() bool {
	_, err := exec.LookPath("bwrap")
	return s.c.Driver != Child && (s.c.Driver != Auto || err == nil) || childIsolates() && (s.c.Driver == Child || s.c.Driver == Auto)
}

// Finding is what was found about a driver.
type Finding struct {
	Driver Driver
	Err    error  // why it does not work here; nil: it does
	Detail string // what it keeps commands from
}

// Probe tries each driver that could be used here besides the one that is: where
// one is named, there is no other.
func (s *Sandbox) Probe(ctx context.Context) []Finding {
	used, err := s.Driver(ctx)
	if err != nil || s.c.Driver != Auto {
		return nil
	}
	var found []Finding
	for _, d := range Drivers {
		if d == used {
			continue
		}
		detail, err := s.try(ctx, d)
		found = append(found, Finding{Driver: d, Err: err, Detail: detail})
	}
	return found
}

// probeTime bounds the try of one driver.
const probeTime = 10 * time.Second

// try runs a command that does nothing.
func (s *Sandbox) try(ctx context.Context, d Driver) (detail string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if isEngine(d) {
		return engineVersion(ctx, d)
	}
	if d == Kubernetes {
		return s.tryCluster(ctx)
	}
	r, err := s.run(ctx, d, Spec{Command: append(slices.Clone(s.c.Self), probeWord), Read: s.c.Self[:1], Wall: probeTime, Memory: 1 << 30})
	switch {
	case err != nil:
		return "", err
	case r.Limit != "":
		return "", fmt.Errorf("%w: a command that does nothing was ended: %s", ErrUnavailable, r.Limit)
	case r.Code != 0 || !strings.HasPrefix(string(r.Stdout), probeAnswer):
		return "", fmt.Errorf("%w: a command that does nothing ended with %d: %s", ErrUnavailable, r.Code, firstLine(r.Stderr))
	}
	return strings.TrimSpace(strings.TrimPrefix(string(r.Stdout), probeAnswer)), nil
}
