package resident

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A program goes on as before after its pages were given back, and has fewer.
func TestGiveBack(t *testing.T) {
	before := programPages(t)
	GiveBack()
	if after := programPages(t); after >= before {
		t.Errorf("of %d KiB of the program %d KiB are resident afterwards", before, after)
	}
}

// programPages are the KiB of this program's code that are resident.
func programPages(t *testing.T) (kib int) {
	t.Helper()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) > 1 && strings.Contains(fields[0], "-"):
			inside = strings.HasSuffix(lines.Text(), " "+program) && strings.HasPrefix(fields[1], "r-x")
		case inside && len(fields) == 3 && fields[0] == "Rss:":
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	if kib == 0 {
		t.Fatal("no page of the program is resident")
	}
	return kib
}
