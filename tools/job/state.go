package job

// What the files of a job's folder say.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// The files of a job's folder.
const (
	orderFile   = "order.json"
	lockFile    = "lock"
	begunFile   = "begun.json"
	commandFile = "command.json"
	endFile     = "end.json"
	killFile    = "kill"
	outFile     = "stdout"
	errFile     = "stderr"
	logFile     = "supervisor.log"
	tempDir     = "tmp"
	homeDir     = "home"
)

// order is what a job is to do. Durations are nanoseconds.
type order struct {
	ID      string        `json:"id"`
	Name    string        `json:"name,omitempty"`
	Command string        `json:"command"`
	Folder  string        `json:"folder"` // absolute
	Made    time.Time     `json:"made"`
	Wall    time.Duration `json:"wall"`
	Output  int64         `json:"output"` // bytes
	Grace   time.Duration `json:"grace"`
	// Sandbox keeps the command; nil: nothing does.
	Sandbox *confinement `json:"sandbox,omitempty"`
}

// confinement is the sandbox of a job: an older supervisor that does not know it
// would run the command on the host, so it lives in a program that knows it.
type confinement struct {
	Config sandbox.Config `json:"config"`
	Spec   sandbox.Spec   `json:"spec"`
}

// process identifies a process beyond the reuse of its number.
type process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // as the system says it, comparable on one machine only
}

// begun is the note of the supervisor that runs the command.
type begun struct {
	At         time.Time `json:"at"`
	Supervisor process   `json:"supervisor"`
	Machine    machine   `json:"machine"`
}

// machine says where a supervisor runs. Boot differs after each restart; it is
// empty where the system does not tell.
type machine struct {
	Host string `json:"host"`
	Boot string `json:"boot,omitempty"`
}

// State is how a job is.
type State string

// The states of a job. Starting: its folder is made and nothing runs yet.
const (
	Starting State = "starting"
	Running  State = "running"
	Exited   State = "exited"
	Killed   State = "killed"
	Lost     State = "lost"
)

// end is how a job ended.
type end struct {
	State  State     `json:"state"`
	Code   int       `json:"code"`
	Signal string    `json:"signal,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Left   int       `json:"left,omitempty"` // processes that outlived the command and were ended
	At     time.Time `json:"at"`
}

// report is what a job's folder says.
type report struct {
	order
	begun *begun
	end   *end
}

// readReport reads a job's folder. What is lost is noted as its end, and what is left
// of its processes is ended.
func readReport(dir string) (report, error) {
	var r report
	if err := readJSON(filepath.Join(dir, orderFile), &r.order); err != nil {
		return r, fmt.Errorf("the job's order cannot be read: %w", err)
	}
	for range 2 {
		switch ended, err := readEnd(dir); {
		case err != nil:
			return r, err
		case ended != nil:
			r.end = ended
		}
		var b begun
		err := readJSON(filepath.Join(dir, begunFile), &b)
		if errors.Is(err, fs.ErrNotExist) {
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("job %s: that it began cannot be read: %w", r.ID, err)
		}
		r.begun = &b
		if r.end != nil {
			return r, nil
		}
		dead, err := noteLost(dir, r)
		if err != nil || !dead {
			return r, err
		}
	}
	return r, nil
}

func readEnd(dir string) (*end, error) {
	var e end
	switch err := readJSON(filepath.Join(dir, endFile), &e); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // it has not ended
	case err != nil:
		return nil, fmt.Errorf("how the job ended cannot be read: %w", err)
	}
	return &e, nil
}

// state is the report in one word.
func (r report) state() State {
	switch {
	case r.end != nil:
		return r.end.State
	case r.begun != nil:
		return Running
	}
	return Starting
}

// over reports whether nothing of the job goes on any more.
func (r report) over() bool { return r.end != nil }

// noteLost notes the end of a job whose supervisor is gone without a word, and
// ends what it left behind. False: the supervisor lives, or may live elsewhere.
func noteLost(dir string, r report) (dead bool, err error) {
	here := thisMachine()
	there := r.begun.Machine
	if there.Host != here.Host && there.Boot != here.Boot { // locks may not reach from there to here
		if time.Now().Before(r.begun.At.Add(r.Wall + 2*r.Grace + time.Minute)) {
			return false, nil
		}
		return true, writeJSON(dir, endFile, end{State: Lost, At: time.Now(), Reason: "nothing was heard from the machine " + there.Host + " when its time was over"})
	}
	lock, err := tryLock(filepath.Join(dir, lockFile))
	if err != nil {
		return false, fmt.Errorf("job %s: its lock cannot be looked at: %w", r.ID, err)
	}
	if lock == nil {
		return false, nil
	}
	defer func() { _ = lock.Close() }()
	if e, err := readEnd(dir); e != nil || err != nil {
		return e != nil, err
	}
	why := "its supervisor is gone without a word: it was ended from outside"
	if there.Boot != here.Boot {
		why = "the machine was restarted"
	} else if n := endRemains(dir, *r.begun); n > 0 {
		why = fmt.Sprintf("%s; %d processes of the command were left, and are ended", why, n)
	}
	return true, writeJSON(dir, endFile, end{State: Lost, At: time.Now(), Reason: why})
}

// endRemains kills what is left of a command without a supervisor.
func endRemains(dir string, b begun) int {
	var p process
	if readJSON(filepath.Join(dir, commandFile), &p) != nil {
		p = process{} // the supervisor was ended before it could note it
	}
	return killRemains(filepath.Join(dir, tempDir), p, b.Supervisor)
}

// readJSON reads a JSON file.
func readJSON[T any](name string, into *T) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// writeJSON writes a JSON file into a folder: whole, synced, or not at all.
func writeJSON[T any](dir, name string, v T) error {
	temp, err := writeTemp(dir, v)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(dir)
}

// createJSON is writeJSON for a file that may be made once: fs.ErrExist if it is there.
func createJSON[T any](dir, name string, v T) error {
	temp, err := writeTemp(dir, v)
	if err != nil {
		return err
	}
	err = os.Link(temp, filepath.Join(dir, name)) // unlike a rename, it never replaces a file
	if e := os.Remove(temp); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

func writeTemp[T any](dir string, v T) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, ".draft-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
