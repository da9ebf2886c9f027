package job

// The four tools, and the folders of jobs.

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Shell runs the commands.
const Shell = "/bin/sh"

// Config says where jobs are kept and bounds them. Zero bounds are the defaults.
type Config struct {
	// Dir holds a folder per run. Workers that share runs must share it.
	Dir string
	// Workspace is where the commands run, and Root is its folder.
	Workspace *workspace.Workspace
	Root      string
	// Sandbox keeps commands to the run's folder and from the network; nil, or
	// where its driver is a plain child: they run on the host as they are.
	Sandbox *sandbox.Sandbox
	Hide    []string // absolute paths that sandboxed commands do not see
	Memory  int64    // bytes that a sandboxed command may use; default 4 GiB
	Disk    int64    // bytes that a sandboxed command may write; default 10 GiB
	// Command starts a supervisor: this program with the argument that makes
	// it call Supervise. The job's folder is added as the last argument.
	Command []string
	Max     int           // jobs of one run that run at once; default 4
	Wall    time.Duration // default 2 h
	Output  int64         // bytes of stdout and stderr together; default 16 MiB
	Grace   time.Duration // between SIGTERM and SIGKILL; default 5 s
}

// Jobs are the jobs of all runs. It may be used from many goroutines, and from
// many processes at once.
type Jobs struct{ c Config }

// ErrConfig is returned by New for a configuration that cannot work here.
var ErrConfig = errors.New("jobs cannot be run")

// New returns the jobs below a folder. It touches no file.
func New(c Config) (*Jobs, error) {
	if len(c.Command) == 0 || c.Workspace == nil || c.Dir == "" || c.Root == "" {
		return nil, fmt.Errorf("%w: Config needs Dir, Workspace, Root and Command", ErrConfig)
	}
	if info, err := os.Stat(Shell); err != nil || info.IsDir() {
		return nil, fmt.Errorf("%w: there is no %s; use an image that has one, or set tools.jobs.enabled: false", ErrConfig, Shell)
	}
	for _, dir := range []*string{&c.Dir, &c.Root} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return nil, fmt.Errorf("%w: the folder %s has no absolute path: %w", ErrConfig, *dir, err)
		}
		*dir = abs
	}
	if c.Max <= 0 {
		c.Max = 4
	}
	if c.Wall <= 0 {
		c.Wall = 2 * time.Hour
	}
	if c.Output <= 0 {
		c.Output = 16 << 20
	}
	if c.Memory <= 0 {
		c.Memory = 4 << 30
	}
	if c.Disk <= 0 {
		c.Disk = 10 << 30
	}
	if c.Grace <= 0 {
		c.Grace = 5 * time.Second
	}
	return &Jobs{c}, nil
}

// Tools returns the four tools.
func (j *Jobs) Tools() []agent.Tool { return []agent.Tool{start{j}, status{j}, kill{j}, list{j}} }

// idPrefix begins the ids that the model sees; the rest is the folder's name.
const idPrefix = "job_"

var (
	idShape  = regexp.MustCompile(`^job_[0-9a-f]{16}$`)
	runShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)
)

// jobID is the job that a call starts, the same one however often it is called.
func jobID(c agent.Call) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", c.Run, c.Effect, c.Tool, c.Arguments))
	return fmt.Sprintf("%s%x", idPrefix, sum[:8])
}

// runDir is the folder of a run's jobs.
func (j *Jobs) runDir(run agent.RunID) (string, error) {
	if !runShape.MatchString(string(run)) {
		return "", fmt.Errorf("the run's id %q cannot name a folder", run)
	}
	return filepath.Join(j.c.Dir, string(run)), nil
}

// find is the folder of one of the run's jobs.
func (j *Jobs) find(run agent.RunID, id string) (string, error) {
	if !idShape.MatchString(id) {
		return "", fmt.Errorf("%q is no job's id: they look like job_0123456789abcdef, list_jobs has them", id)
	}
	parent, err := j.runDir(run)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(parent, id[len(idPrefix):])
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("this run has no job %s: list_jobs has them", id)
	}
	return dir, nil
}

// all are the folders of the run's jobs, sorted by name.
func (j *Jobs) all(run agent.RunID) ([]string, error) {
	parent, err := j.runDir(run)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(parent)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the jobs of run %s cannot be listed: %w", run, err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && idShape.MatchString(idPrefix+e.Name()) {
			dirs = append(dirs, filepath.Join(parent, e.Name()))
		}
	}
	return dirs, nil
}

// readArguments decodes arguments.
func readArguments(c agent.Call, into any) error {
	if err := json.Unmarshal(c.Arguments, into); err != nil {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	return nil
}
