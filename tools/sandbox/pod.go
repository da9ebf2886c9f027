package sandbox

// This file is the driver kubernetes: the same specification as a container of a
// Job in a cluster. In its pod this program gives up rights once more, as the
// driver child does, and becomes the command; what came of it stands in the
// pod's log.

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/tools/sandbox/kubernetes"
)

// The arguments behind Config.Self in a pod: for its init container, and its container.
const (
	installWord = "install"
	podWord     = "pod"
)

// Cluster says where the driver kubernetes runs commands.
type Cluster struct {
	// Context of the kubeconfig and Namespace; empty: its own, or those of the pod
	// that this process runs in.
	Context, Namespace string
	// Runner is an image of this program: pods take it from there.
	Runner string
	// Program is the path of this program in Runner.
	Program string
	// Claim is a volume claim that holds the folder Root; without one a command's
	// folder is packed into its Job, as far as it fits.
	Claim, Root  string
	RuntimeClass string
	PullSecrets  []string
}

// podOrder is what a pod is to do.
type podOrder struct {
	Spec   Spec     `json:"spec"`
	Stdin  []byte   `json:"stdin,omitempty"`
	Files  []File   `json:"files,omitempty"`
	Keep   []string `json:"keep,omitempty"`
	Folder []File   `json:"folder,omitempty"` // of Spec.Dir
}

// podAnswer is what came of it.
type podAnswer struct {
	Result Result `json:"result"`
	Error  string `json:"error,omitempty"`
}

// Bounds of what goes over a cluster, in bytes: of a folder before it is packed,
// and of an answer when it is, which a node's log holds whole.
const (
	largestFolder = 64 << 20
	largestAnswer = 6 << 20
)

// runInCluster runs a command as a Job.
func (s *Sandbox) runInCluster(ctx context.Context, spec Spec) (Result, error) {
	c, err := s.cluster()
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer c.Close()
	j, err := s.podJob(spec)
	if err != nil {
		return Result{}, err
	}
	e, err := c.Run(ctx, j)
	switch {
	case ctx.Err() != nil:
		return Result{}, fmt.Errorf("stopped: %w", ctx.Err())
	case err != nil:
		return Result{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	limits := map[string]string{kubernetes.OutOfMemory: tooMuchMemory(spec), kubernetes.Evicted: tooMuchDisk(spec), kubernetes.TooLong: tooLong(spec)}
	if limit := limits[e.Reason]; limit != "" {
		return Result{Code: codeEnded, Limit: limit}, nil
	}
	a, err := readAnswer(e.Log)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("%w: its pod ended with %d: %w", ErrUnavailable, e.Code, err)
	case a.Error != "":
		return Result{}, fmt.Errorf("%w: %s", ErrUnavailable, a.Error)
	}
	return a.Result, nil
}

func (s *Sandbox) cluster() (*kubernetes.Cluster, error) {
	return kubernetes.Open(kubernetes.Access{Context: s.c.Cluster.Context, Namespace: s.c.Cluster.Namespace})
}

// podJob is the Job of a specification.
func (s *Sandbox) podJob(spec Spec) (kubernetes.Job, error) {
	at := s.c.Cluster
	if spec.Image == "" {
		spec.Image = s.c.Image
	}
	switch {
	case spec.Image == "":
		return kubernetes.Job{}, fmt.Errorf("%w: no image is named: set sandbox.image, or image in the task's env", ErrUnavailable)
	case at.Runner == "":
		return kubernetes.Job{}, fmt.Errorf("%w: set sandbox.kubernetes.runner to an image of this Deckhand, which pods take it from (the chart does)", ErrUnavailable)
	case len(spec.Network) > 0:
		return kubernetes.Job{}, fmt.Errorf("%w: the driver kubernetes cannot let a command reach some hosts only: bubblewrap, docker and podman can", ErrUnavailable)
	case spec.Wall < 0:
		return kubernetes.Job{}, fmt.Errorf("%w: a command in a cluster has a bound of time", ErrUnavailable)
	case len(spec.Write) > 0 || spec.Scratch != "":
		return kubernetes.Job{}, fmt.Errorf("%w: a command in a cluster cannot change this host's folders", ErrUnavailable)
	}
	o := podOrder{Spec: spec, Stdin: spec.Stdin, Files: spec.Files, Keep: spec.Keep}
	o.Spec.Read, o.Spec.Scratch = []string{"/"}, Work // the image's own files are nobody's secret
	j := kubernetes.Job{
		Name: "deckhand-" + strings.ToLower(rand.Text()[:16]), Image: spec.Image, Runner: at.Runner, Program: at.Program, Work: Work,
		Install: append(slices.Clone(s.c.Self[1:]), installWord, kubernetes.InstallTarget()), Words: append(slices.Clone(s.c.Self[1:]), podWord),
		Memory: spec.Memory, Disk: spec.Disk, Processor: spec.Processor, Wall: spec.Wall, RuntimeClass: at.RuntimeClass, PullSecrets: at.PullSecrets,
	}
	if err := s.podFolder(spec, &o, &j); err != nil {
		return j, err
	}
	text, err := pack(o)
	if err != nil {
		return j, err
	}
	if len(text) > kubernetes.LargestOrder {
		return j, fmt.Errorf("%w: the program and the files that it sees have %s packed, a Job holds %s: name fewer in the task's env.files, or set sandbox.kubernetes.claim", ErrUnavailable, size(int64(len(text))), size(kubernetes.LargestOrder))
	}
	j.Order = text
	return j, nil
}

// podFolder brings a command's folder into its pod: by the volume that holds it,
// or packed.
func (s *Sandbox) podFolder(spec Spec, o *podOrder, j *kubernetes.Job) (err error) {
	at := s.c.Cluster
	inClaim := spec.Dir == at.Root || strings.HasPrefix(spec.Dir, strings.TrimSuffix(at.Root, "/")+"/")
	switch {
	case spec.Dir == "":
	case at.Claim != "" && inClaim:
		j.Claim, j.Folder, j.ReadOnly = at.Claim, at.Root, spec.ReadOnly
	case !spec.ReadOnly:
		return fmt.Errorf("%w: a command in a cluster can change no folder of this host; sandbox.kubernetes.claim names a volume that both have", ErrUnavailable)
	default:
		j.Folder = spec.Dir
		o.Folder, err = readFolder(spec)
		o.Spec.Hide = nil // what is hidden was left behind
	}
	return err
}

// readFolder reads what a command sees of its folder: regular files.
func readFolder(spec Spec) (files []File, err error) {
	root, err := os.OpenRoot(spec.Dir)
	if err != nil {
		return nil, fmt.Errorf("the command's folder could not be read: %w", err)
	}
	defer func() { _ = root.Close() }()
	left := int64(largestFolder)
	take := func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if slices.Contains(spec.Hide, filepath.Join(spec.Dir, name)) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := readFile(root, name, left)
		left -= int64(len(data))
		files = append(files, File{Path: name, Data: data})
		return err
	}
	only := spec.Need
	if len(only) == 0 {
		only = []string{"."}
	}
	for _, p := range only {
		if err := fs.WalkDir(root.FS(), filepath.ToSlash(filepath.Clean(p)), take); err != nil {
			return nil, fmt.Errorf("%w: the command's folder could not be packed for a cluster: %w; name what it needs in the task's env.files, or set sandbox.kubernetes.claim", ErrUnavailable, err)
		}
	}
	return files, nil
}

// tryCluster asks the API server whether it would run a command here.
func (s *Sandbox) tryCluster(ctx context.Context) (string, error) {
	c, err := s.cluster()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer c.Close()
	version, err := c.Version(ctx)
	if err == nil {
		err = c.MayRun(ctx)
	}
	if err == nil && s.c.Image != "" {
		j, e := s.podJob(Spec{Command: []string{"true"}}.withDefaults())
		if err = e; err == nil {
			err = c.DryRun(ctx, j)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return version + ", namespace " + c.Namespace(), nil
}

// install puts this program where the pod's container finds it.
func install(target string) int {
	err := func() error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		from, err := os.Open(self)
		if err != nil {
			return err
		}
		defer func() { _ = from.Close() }()
		to, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		return errors.Join(err, to.Close())
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "this program cannot be put into the pod:", err)
		return codeUnavailable
	}
	return 0
}

// inPod does a pod's work: self starts this program there.
func inPod(self []string, out io.Writer) int {
	o, err := readPodOrder()
	if err == nil && !childIsolates() {
		err = errors.New("the kernel of the pod's node has no Landlock: commands would reach the network")
	}
	var a podAnswer
	if err == nil {
		a.Result, err = runPodOrder(self, o)
	}
	if err != nil {
		a = podAnswer{Error: err.Error()}
	}
	if err := writeAnswer(out, a); err != nil {
		fmt.Fprintln(os.Stderr, "the answer cannot be written:", err)
		return codeUnavailable
	}
	return 0
}

// readPodOrder takes the order out of the environment.
func readPodOrder() (o podOrder, err error) {
	var text strings.Builder
	for i := 0; ; i++ {
		name := kubernetes.OrderVariable + strconv.Itoa(i)
		part, is := os.LookupEnv(name)
		if !is {
			break
		}
		text.WriteString(part)
		if err := os.Unsetenv(name); err != nil {
			return o, fmt.Errorf("the order cannot be taken: %w", err)
		}
	}
	packed, err := base64.StdEncoding.DecodeString(text.String())
	if err == nil {
		err = unpack(packed, &o)
	}
	if err != nil {
		return o, fmt.Errorf("the order cannot be read: %w", err)
	}
	return o, nil
}

func runPodOrder(self []string, o podOrder) (Result, error) {
	s, err := New(Config{Self: self, Driver: Child})
	if err != nil {
		return Result{}, err
	}
	spec := o.Spec
	if err := errors.Join(putFiles(Work, o.Files), putFolder(spec.Dir, o.Folder)); err != nil {
		return Result{}, err
	}
	spec.Stdin = o.Stdin
	r, err := s.Run(context.Background(), spec)
	if err == nil && len(o.Keep) > 0 {
		r.Files, err = takeFiles(Work, o.Keep)
	}
	return r, err
}

func putFolder(dir string, files []File) error {
	if dir == "" || len(files) == 0 {
		return nil
	}
	return putFiles(dir, files)
}

// pack and unpack carry a value as compressed JSON.
func pack(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(text)
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return b.Bytes(), nil
}

func unpack(b []byte, v any) error {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(z, 4*largestFolder))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// answerLine begins the lines of an answer: its number, how many there are, and
// its part of the packed answer. Nodes cut longer lines.
const (
	answerLine = "deckhand-answer"
	answerPart = 8 << 10
)

func writeAnswer(w io.Writer, a podAnswer) error {
	packed, err := pack(a)
	if err != nil {
		return err
	}
	if len(packed) > largestAnswer {
		if packed, err = pack(podAnswer{Error: fmt.Sprintf("what the command made has %s packed, %s come back from a cluster", size(int64(len(packed))), size(largestAnswer))}); err != nil {
			return err
		}
	}
	text := base64.StdEncoding.EncodeToString(packed)
	n := (len(text) + answerPart - 1) / answerPart
	for i := range n {
		if _, err := fmt.Fprintln(w, answerLine, i+1, n, text[i*answerPart:min(len(text), (i+1)*answerPart)]); err != nil {
			return err
		}
	}
	return nil
}

// readAnswer finds the answer in a log.
func readAnswer(log []byte) (a podAnswer, err error) {
	var text strings.Builder
	got, want := 0, 0
	for line := range strings.Lines(string(log)) {
		f := strings.Fields(line)
		if len(f) != 4 || f[0] != answerLine || f[1] != strconv.Itoa(got+1) {
			continue
		}
		got++
		if want, err = strconv.Atoi(f[2]); err != nil {
			return a, fmt.Errorf("its answer cannot be read: %w", err)
		}
		text.WriteString(f[3])
	}
	if got == 0 || got != want {
		return a, fmt.Errorf("its log holds %d of the %d lines of its answer: %s", got, want, firstLine(log))
	}
	packed, err := base64.StdEncoding.DecodeString(text.String())
	if err == nil {
		err = unpack(packed, &a)
	}
	if err != nil {
		return a, fmt.Errorf("its answer cannot be read: %w", err)
	}
	return a, nil
}
