package posting

import (
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

func TestFetch(t *testing.T) {
	for _, tt := range []struct {
		name    string
		file    agent.Attachment
		content string
		there   bottest.Shelf
		want    string // path, or a part of the reason
		fails   bool
	}{
		{"a file", agent.Attachment{ID: "F1", Name: "a.csv", Size: 4}, "1;2\n", nil, "attachments/a.csv", false},
		{"the name is taken", agent.Attachment{ID: "F1", Name: "a.csv", Size: 4}, "1;2\n", bottest.Shelf{"/attachments/a.csv": "x", "/attachments/a-2.csv": "3;4\n"}, "attachments/a-3.csv", false},
		{"an earlier attempt brought it", agent.Attachment{ID: "F1", Name: "a.csv", Size: 4}, "1;2\n", bottest.Shelf{"/attachments/a.csv": "1;2\n"}, "attachments/a.csv", false},
		{"it is longer than what is there", agent.Attachment{ID: "F1", Name: "a.csv"}, "1;2\n", bottest.Shelf{"/attachments/a.csv": "1;2"}, "attachments/a-2.csv", false},
		{"it is the beginning of what is there", agent.Attachment{ID: "F1", Name: "a.csv"}, "1;2\n", bottest.Shelf{"/attachments/a.csv": "1;2\n3"}, "attachments/a-2.csv", false},
		{"too large", agent.Attachment{ID: "F1", Name: "a.csv", Size: maxFetch + 1}, "", nil, "at most 52,428,800 are fetched", true},
		{"deleted", agent.Attachment{ID: "F2", Name: "a.csv"}, "", nil, "gone", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := onStage(t)
			h.stage.Files["F1"] = tt.content
			maps.Copy(h.files, tt.there)
			before := len(h.files)
			r := bottest.Told(agent.RunStarted{Files: []agent.Attachment{tt.file}})
			res := h.call(t, r, postFile)
			if tt.fails {
				if res.State != agent.OutcomeError || !strings.Contains(res.Text, tt.want) || len(h.files) != before {
					t.Errorf("result %+v, files %v", res, h.files)
				}
				return
			}
			if got := shownOf(t, res).Path; got != tt.want || h.files["/"+got] != tt.content {
				t.Errorf("at %s, want %s; files %v", got, tt.want, h.files)
			}
		})
	}
	h := onStage(t)
	h.open(t, bottest.Mute{Platform: h.stage})
	r := bottest.Told(agent.RunStarted{Files: []agent.Attachment{{ID: "F1", Name: "a"}}})
	if res := h.call(t, r, postFile); res.State != agent.OutcomeError {
		t.Errorf("a platform without files: %+v", res)
	}
	h.open(t, h.stage)
	h.stage.Files["F1"] = "x"
	for deferred, want := range map[int]agent.Result{0: {Again: time.Second}, 4: {Again: 16 * time.Second}, 5: {State: agent.OutcomeError}} {
		h.stage.Unfetched = fmt.Errorf("missing_scope: %w", bot.ErrRefused)
		if res := h.Post(t.Context(), r, postFile, agent.Call{Deferred: deferred}); res.Again != want.Again || res.State != want.State {
			t.Errorf("refused %d times before: %+v", deferred, res)
		}
	}
	if res := h.call(t, r, agent.Post{Key: "file/7", Kind: agent.PostAttach, About: "7"}); res.State != agent.OutcomeError {
		t.Errorf("no such file: %+v", res)
	}
}

func TestFileNames(t *testing.T) {
	for in, want := range map[string]string{
		"report.pdf": "report.pdf", "../../etc/passwd": "passwd", `C:\a\b.txt`: "b.txt", ".ssh": "ssh", "": "file", "..": "file", "/": "_",
		"a\u202etxt.exe": "atxt.exe", "a\x00b?.csv": "ab_.csv", "Büro 1.md": "Büro 1.md", strings.Repeat("n", 300) + ".csv": strings.Repeat("n", 100) + ".csv",
		strings.Repeat("報", 300) + ".csv": strings.Repeat("報", 66) + ".csv", // 255 bytes are the most that file systems take
	} {
		if got := fileName(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := numbered("a.tar.gz", 2); got != "a.tar-2.gz" {
		t.Errorf("numbered: %q", got)
	}
}

func TestUpload(t *testing.T) {
	r := inThread(agent.RunStarted{Folder: "slack-C1"}, bottest.On(agent.Main, agent.Reported{Artifacts: agent.Texts{"out/REPORT.md", "REPORT.md", "b.txt"}}))
	h := onStage(t)
	h.files["slack-C1/out/REPORT.md"], h.files["slack-C1/big"] = "all counted", strings.Repeat("x", 21)
	s := shownOf(t, h.call(t, r, postUpload))
	if diff := cmp.Diff(agent.Shown{Message: "slack:T1:C1:file", Thread: "slack:T1:C1:17.1"}, s); diff != "" {
		t.Error(diff)
	}
	f := h.stage.Uploads[0]
	content, err := io.ReadAll(f.Content)
	if err != nil || f.Name != "out_REPORT.md" || f.Title != "out/REPORT.md" || f.Size != 11 || string(content) != "all counted" {
		t.Errorf("uploaded %+v %q, %v", f, content, err)
	}
	for about, want := range map[string]string{"big": "too large: 21 bytes, at most 20", "none": "cannot be read"} {
		res := h.call(t, r, agent.Post{Key: "upload/1", Kind: agent.PostUpload, About: about})
		if res.State != agent.OutcomeError || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %+v", about, res)
		}
	}
	h.stage.Fails = []error{bot.ErrLost}
	if res := h.call(t, r, postUpload); res.State != agent.OutcomeUnknown {
		t.Errorf("lost: %+v", res)
	}
	h.open(t, bottest.Mute{Platform: h.stage})
	if res := h.call(t, r, postUpload); res.State != agent.OutcomeError || !strings.Contains(res.Text, "takes no files") {
		t.Errorf("a platform without files: %+v", res)
	}
	if got := uploadName(r, "b.txt"); got != "b.txt" {
		t.Errorf("a name of its own: %s", got)
	}
}
