package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Row adds these figures to the table of the long form, which `make soak` prints.
// Whatever fell before it stands there as failed: nothing lost and nothing done
// twice is what the suites look for, and no figure.
func (f *Figures) Row(t *testing.T, suite string, kind Kind) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var took []time.Duration
	for _, list := range f.after {
		for _, o := range list {
			took = append(took, o.took)
		}
	}
	slices.Sort(took)
	p50, slowest := "–", "–"
	if len(took) > 0 {
		p50, slowest = seconds(took[len(took)/2]), seconds(took[len(took)-1])
	}
	verdict := "0"
	if t.Failed() {
		verdict = "FAILED"
	}
	row := fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %s | %s | %s | %d |\n",
		suite, kind, f.Kills, f.Strikes, f.Runs, f.Effects, p50, slowest, verdict, f.Seconds)
	t.Log(row)
	file := os.Getenv(soakVar)
	if !filepath.IsAbs(file) {
		return
	}
	table, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err == nil {
		_, err = table.WriteString(row)
		_ = table.Close()
	}
	if err != nil {
		t.Errorf("the table of the figures: %v", err)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
