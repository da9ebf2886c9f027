package job_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/tools/job"
)

// A command that leaves a daemon in a session of its own, which its group does
// not reach, leaves nothing all the same.
func TestDaemons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, command string
		kill          bool
		want          string
	}{
		{"the command ends", "setsid sh -c 'echo $$ > pid; exec sleep 300' & until [ -s pid ]; do sleep 0.01; done", false, "exited 0; 1 processes that it left in the background were ended"},
		{"the daemon does not listen", "setsid sh -c 'trap \"\" TERM; echo $$ > pid; exec sleep 300' & until [ -s pid ]; do sleep 0.01; done", false, "exited 0; 1 processes that it left"},
		{"its parents are gone", "(setsid sh -c 'sh -c \"echo \\$\\$ > pid; exec sleep 300\" & exit' &) ; until [ -s pid ]; do sleep 0.01; done; sleep 300", true, "killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, job.Config{Grace: 300 * time.Millisecond})
			id, dir := r.start(c.command)
			pid, err := strconv.Atoi(r.file("pid"))
			if err != nil {
				t.Fatal(err)
			}
			if c.kill {
				r.do(r.call("kill_job", object{"id": id}))
			}
			r.has(r.ended(id, dir), c.want)
			if alive(pid) {
				t.Errorf("the daemon %d is left", pid)
			}
		})
	}
}
