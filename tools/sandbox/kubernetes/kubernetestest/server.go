package kubernetestest

// The server, and the one node that it has.

import (
	"context"
	_ "embed" // the schema
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed job.schema.json
var schemaText []byte

var schema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schemaText, &s); err != nil {
		return nil, fmt.Errorf("the published schema: %w", err)
	}
	return s.Resolve(nil)
})

// Valid is nil where a cluster of the schema's version decodes a Job strictly.
func Valid(manifest []byte) error {
	s, err := schema()
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(manifest, &v); err != nil {
		return fmt.Errorf("the Job is no JSON: %w", err)
	}
	return s.Validate(v)
}

// Container is what a test's node is told of a pod's container.
type Container struct {
	Image      string   `json:"image"`
	WorkingDir string   `json:"workingDir"`
	Command    []string `json:"command"`
	Env        []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
	VolumeMounts []struct {
		Name      string `json:"name"`
		MountPath string `json:"mountPath"`
		ReadOnly  bool   `json:"readOnly"`
	} `json:"volumeMounts"`
}

// Ended is how a container ended. Waiting is why it never started, Gone that its
// pod was removed meanwhile, Late that the Job's deadline passed.
type Ended struct {
	Log        []byte
	Code       int
	Reason     string
	Evicted    bool
	Waiting    string
	Gone, Late bool
}

// Server is an API server.
type Server struct {
	Token string
	// Node runs a pod's container to its end.
	Node func(ctx context.Context, c Container) Ended
	// Forbid are verbs and resources that the account may not use: "create jobs".
	Forbid []string

	http *httptest.Server

	mu   sync.Mutex
	jobs map[string]*job
	Seen []string // methods and paths
}

type job struct {
	manifest json.RawMessage
	labels   map[string]string
	looks    int
	ended    *Ended
	cancel   context.CancelFunc
	done     chan struct{}
}

// Start starts a server, and makes its kubeconfig the one of this process.
func Start(t *testing.T, node func(ctx context.Context, c Container) Ended) *Server {
	t.Helper()
	s := &Server{Token: "token-of-test", Node: node, jobs: map[string]*job{}}
	s.http = httptest.NewTLSServer(s)
	t.Cleanup(func() {
		s.mu.Lock()
		for _, j := range s.jobs {
			j.cancel()
		}
		s.mu.Unlock()
		s.http.Close()
	})
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, []byte(s.Kubeconfig()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", name)
	return s
}

// Kubeconfig is the client's configuration.
func (s *Server) Kubeconfig() string {
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters: [{name: here, cluster: {server: "%s", certificate-authority-data: %s}}]
contexts: [{name: test, context: {cluster: here, user: tester, namespace: agents}}]
users: [{name: tester, user: {token: %s}}]
`, s.http.URL, base64.StdEncoding.EncodeToString(root), s.Token)
}

// Left are the Jobs that nobody removed.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

const namespace = "agents"

// ServeHTTP answers as an API server does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.Seen = append(s.Seen, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+s.Token:
		status(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	case r.URL.Path == "/version":
		answer(w, http.StatusOK, map[string]string{"major": "1", "minor": "35", "gitVersion": "v1.35.0"})
	case r.URL.Path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		s.review(w, r)
	case s.forbidden(r):
		status(w, http.StatusForbidden, "Forbidden", r.URL.Path+" is forbidden: User \"tester\" cannot do this")
	default:
		s.serve(w, r)
	}
}

// serve answers what is asked about Jobs and their pods.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	jobs, pods := "/apis/batch/v1/namespaces/"+namespace+"/jobs", "/api/v1/namespaces/"+namespace+"/pods"
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch {
	case r.Method == http.MethodPost && r.URL.Path == jobs:
		s.create(w, r)
	case r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, jobs+"/"):
		s.remove(w, name)
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, jobs+"/"):
		s.read(w, name)
	case r.Method == http.MethodGet && r.URL.Path == pods:
		s.list(w, strings.TrimPrefix(r.URL.Query().Get("labelSelector"), "deckhand.dev/job="))
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, pods+"/") && name == "log":
		s.log(w, strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, pods+"/"), "-x1/log"))
	default:
		status(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
	}
}

func (s *Server) forbidden(r *http.Request) bool {
	verb := map[string]string{http.MethodPost: "create", http.MethodDelete: "delete", http.MethodGet: "get"}[r.Method]
	return strings.HasPrefix(r.URL.Path, "/apis/batch") && slices.Contains(s.Forbid, verb+" jobs")
}

func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Spec struct {
			ResourceAttributes struct {
				Verb     string `json:"verb"`
				Resource string `json:"resource"`
			} `json:"resourceAttributes"`
		} `json:"spec"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		status(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	a := ask.Spec.ResourceAttributes
	answer(w, http.StatusCreated, map[string]any{"status": map[string]bool{"allowed": !slices.Contains(s.Forbid, a.Verb+" "+a.Resource)}})
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = Valid(text)
	}
	if err != nil {
		status(w, http.StatusBadRequest, "BadRequest", "Job in version \"v1\" cannot be handled as a Job: strict decoding error: "+err.Error())
		return
	}
	var m struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			Template struct {
				Metadata struct {
					Labels map[string]string `json:"labels"`
				} `json:"metadata"`
				Spec struct {
					Containers []Container `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		status(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	if r.URL.Query().Get("dryRun") != "All" {
		ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // it outlives the request
		j := &job{manifest: text, labels: m.Spec.Template.Metadata.Labels, cancel: cancel, done: make(chan struct{})}
		s.mu.Lock()
		s.jobs[m.Metadata.Name] = j
		s.mu.Unlock()
		go func() {
			defer close(j.done)
			e := s.Node(ctx, m.Spec.Template.Spec.Containers[0])
			s.mu.Lock()
			j.ended = &e
			s.mu.Unlock()
		}()
	}
	answer(w, http.StatusCreated, json.RawMessage(text))
}

func (s *Server) remove(w http.ResponseWriter, name string) {
	s.mu.Lock()
	j := s.jobs[name]
	delete(s.jobs, name)
	s.mu.Unlock()
	if j == nil {
		status(w, http.StatusNotFound, "NotFound", "jobs.batch \""+name+"\" not found")
		return
	}
	j.cancel()
	<-j.done
	answer(w, http.StatusOK, map[string]string{"kind": "Status", "status": "Success"})
}

func (s *Server) read(w http.ResponseWriter, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[name]
	conditions := []map[string]string{}
	if j != nil && j.ended != nil && j.ended.Late {
		conditions = append(conditions, map[string]string{"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline"})
	}
	answer(w, http.StatusOK, map[string]any{"kind": "Job", "status": map[string]any{"conditions": conditions}})
}

// list is the job's pod as it is at this look: made, started, ended.
func (s *Server) list(w http.ResponseWriter, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[name]
	items := []any{}
	if j != nil && j.labels["deckhand.dev/job"] == name {
		j.looks++
		gone := j.ended != nil && (j.ended.Gone || j.ended.Late)
		if j.looks > 1 && !gone || j.looks == 2 {
			items = append(items, map[string]any{"metadata": map[string]string{"name": name + "-x1"}, "status": j.status()})
		}
	}
	answer(w, http.StatusOK, map[string]any{"kind": "PodList", "items": items})
}

func (j *job) status() map[string]any {
	state, phase, reason := map[string]any{"running": map[string]string{"startedAt": "2026-01-01T00:00:00Z"}}, "Running", ""
	e := j.ended
	switch {
	case e != nil && e.Waiting != "":
		state, phase = map[string]any{"waiting": map[string]string{"reason": e.Waiting, "message": "Back-off pulling image"}}, "Pending"
	case j.looks == 2:
		state, phase = map[string]any{"waiting": map[string]string{"reason": "ContainerCreating"}}, "Pending"
	case e != nil && !e.Gone && !e.Late:
		phase = "Succeeded"
		if e.Code != 0 || e.Evicted {
			phase = "Failed"
		}
		if e.Evicted {
			reason = "Evicted"
		}
		state = map[string]any{"terminated": map[string]any{"exitCode": e.Code, "reason": e.Reason}}
	}
	return map[string]any{"phase": phase, "reason": reason, "containerStatuses": []any{map[string]any{"name": "command", "state": state}}}
}

func (s *Server) log(w http.ResponseWriter, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[name]
	if j == nil || j.ended == nil {
		status(w, http.StatusNotFound, "NotFound", "pods \""+name+"\" not found")
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write(j.ended.Log) // a client that is gone needs none
}

func answer(w http.ResponseWriter, code int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text) // likewise
}

func status(w http.ResponseWriter, code int, reason, message string) {
	answer(w, code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": code})
}
