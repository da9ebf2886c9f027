package kubernetes

// Where the API server is and who asks: a kubeconfig, or a pod's own account.

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Where a pod finds its account.
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// Access says which cluster is meant. Empty values are the kubeconfig's own.
type Access struct {
	Context   string // of the kubeconfig
	Namespace string
}

// ErrNoCluster is the cause where no cluster is configured.
var ErrNoCluster = errors.New("no cluster is configured: there is neither KUBECONFIG nor ~/.kube/config, and this is no pod with an account")

// Open returns the cluster of KUBECONFIG (one file), of the account of the pod that
// this process runs in, or of ~/.kube/config, in this order. It asks nobody yet.
func Open(a Access) (*Cluster, error) {
	file := os.Getenv("KUBECONFIG")
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if file == "" && a.Context == "" && host != "" && port != "" {
		if _, err := os.Stat(accountFolder + "/token"); err == nil {
			return inPod(a, accountFolder, net.JoinHostPort(host, port))
		}
	}
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, ErrNoCluster
		}
		file = filepath.Join(home, ".kube", "config")
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator's own file
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w (%s)", ErrNoCluster, file)
	}
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be read: %w", err)
	}
	return fromKubeconfig(a, filepath.Dir(file), text)
}

// inPod is the cluster that this process runs in.
func inPod(a Access, folder, address string) (*Cluster, error) {
	roots, err := os.ReadFile(filepath.Join(folder, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("the cluster's certificate cannot be read: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if config.RootCAs, err = pool(roots); err != nil {
		return nil, err
	}
	if a.Namespace == "" {
		text, err := os.ReadFile(filepath.Join(folder, "namespace"))
		if err != nil {
			return nil, fmt.Errorf("the pod's namespace cannot be read: %w", err)
		}
		a.Namespace = strings.TrimSpace(string(text))
	}
	return newCluster("https://"+address, a.Namespace, config, fileToken(filepath.Join(folder, "token")), nil)
}

// fileToken reads a token that is renewed beside this process.
func fileToken(name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		text, err := os.ReadFile(name) //nolint:gosec // the operator's own file
		if err != nil {
			return "", fmt.Errorf("%w: the account's token cannot be read: %w", ErrUnavailable, err)
		}
		return strings.TrimSpace(string(text)), nil
	}
}

func pool(certificates []byte) (*x509.CertPool, error) {
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(certificates) {
		return nil, errors.New("the cluster's certificate is no certificate")
	}
	return p, nil
}

// newCluster makes the client. proxy may be nil: the environment's.
func newCluster(server, namespace string, config *tls.Config, token func(context.Context) (string, error), proxy *url.URL) (*Cluster, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("the cluster's server %q is no address", server)
	}
	if namespace == "" {
		namespace = "default"
	}
	through := http.ProxyFromEnvironment
	if proxy != nil {
		through = http.ProxyURL(proxy)
	}
	transport := &http.Transport{TLSClientConfig: config, Proxy: through, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4,
		IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second}
	return &Cluster{server: u, namespace: namespace, http: &http.Client{Transport: transport}, token: token}, nil
}

// Close lets go of connections.
func (c *Cluster) Close() { c.http.CloseIdleConnections() }

// kubeconfig is what is read of a kubeconfig.
type kubeconfig struct {
	Current  string `yaml:"current-context"`
	Clusters []struct {
		Name    string
		Cluster clusterEntry
	}
	Contexts []struct {
		Name    string
		Context struct{ Cluster, User, Namespace string }
	}
	Users []struct {
		Name string
		User userEntry
	}
}

type clusterEntry struct {
	Server   string
	Root     string `yaml:"certificate-authority"`
	RootData string `yaml:"certificate-authority-data"`
	Insecure bool   `yaml:"insecure-skip-tls-verify"`
	Name     string `yaml:"tls-server-name"`
	Proxy    string `yaml:"proxy-url"`
}

type userEntry struct {
	Token       string
	TokenFile   string         `yaml:"tokenFile"`
	Certificate string         `yaml:"client-certificate"`
	CertData    string         `yaml:"client-certificate-data"`
	Key         string         `yaml:"client-key"`
	KeyData     string         `yaml:"client-key-data"`
	Exec        *execEntry     `yaml:"exec"`
	Provider    map[string]any `yaml:"auth-provider"`
	Username    string
}

// fromKubeconfig is the cluster of a context. Paths in it are relative to its folder.
func fromKubeconfig(a Access, folder string, text []byte) (*Cluster, error) {
	var k kubeconfig
	if err := yaml.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be read: %w", err)
	}
	if a.Context == "" {
		a.Context = k.Current
	}
	for _, x := range k.Contexts {
		if x.Name != a.Context {
			continue
		}
		if a.Namespace == "" {
			a.Namespace = x.Context.Namespace
		}
		return k.open(a, x.Context.Cluster, x.Context.User, folder)
	}
	return nil, fmt.Errorf("the kubeconfig has no context %q", a.Context)
}

func (k kubeconfig) open(a Access, cluster, user, folder string) (*Cluster, error) {
	var entry clusterEntry
	for _, c := range k.Clusters {
		if c.Name == cluster {
			entry = c.Cluster
		}
	}
	var who userEntry
	for _, u := range k.Users {
		if u.Name == user {
			who = u.User
		}
	}
	if who.Provider != nil || who.Username != "" {
		return nil, fmt.Errorf("the kubeconfig's user %s proves itself by auth-provider or password, which Kubernetes gave up; use a token, a certificate or exec", user)
	}
	config, err := entry.tls(folder, who)
	if err != nil {
		return nil, err
	}
	var proxy *url.URL
	if entry.Proxy != "" {
		if proxy, err = url.Parse(entry.Proxy); err != nil {
			return nil, fmt.Errorf("the kubeconfig's proxy-url: %w", err)
		}
	}
	return newCluster(entry.Server, a.Namespace, config, who.token(folder), proxy)
}

// tls is how the server and this client prove who they are.
func (e clusterEntry) tls(folder string, who userEntry) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: e.Name, InsecureSkipVerify: e.Insecure} //nolint:gosec // the operator's own word, for clusters on this machine
	roots, err := either(folder, e.Root, e.RootData)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig's certificate-authority: %w", err)
	}
	if len(roots) > 0 {
		if config.RootCAs, err = pool(roots); err != nil {
			return nil, err
		}
	}
	certificate, e1 := either(folder, who.Certificate, who.CertData)
	key, e2 := either(folder, who.Key, who.KeyData)
	if err := errors.Join(e1, e2); err != nil {
		return nil, fmt.Errorf("the kubeconfig's client certificate: %w", err)
	}
	if len(certificate) > 0 {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("the kubeconfig's client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// either is the data, or the content of the file.
func either(folder, name, data string) ([]byte, error) {
	if data != "" {
		return base64.StdEncoding.DecodeString(data)
	}
	if name == "" {
		return nil, nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	return os.ReadFile(name) //nolint:gosec // the operator's own file
}

// token is how this client proves who it is, besides certificates.
func (u userEntry) token(folder string) func(context.Context) (string, error) {
	switch {
	case u.Exec != nil:
		return (&execToken{entry: *u.Exec}).token
	case u.TokenFile != "":
		if !filepath.IsAbs(u.TokenFile) {
			u.TokenFile = filepath.Join(folder, u.TokenFile)
		}
		return fileToken(u.TokenFile)
	}
	return func(context.Context) (string, error) { return u.Token, nil }
}

// execEntry is a program that gives tokens, as those of cloud providers do.
type execEntry struct {
	APIVersion string `yaml:"apiVersion"`
	Command    string
	Args       []string
	Env        []struct{ Name, Value string }
}

// execToken keeps a token until it runs out.
type execToken struct {
	entry execEntry

	mu    sync.Mutex
	value string
	until time.Time // zero: for as long as this process lives
}

func (t *execToken) token(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value != "" && (t.until.IsZero() || time.Until(t.until) > time.Minute) {
		return t.value, nil
	}
	info, err := json.Marshal(object{"apiVersion": t.entry.APIVersion, "kind": "ExecCredential", "spec": object{"interactive": false}})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	cmd := exec.CommandContext(ctx, t.entry.Command, t.entry.Args...) //nolint:gosec // the operator's own kubeconfig names it
	cmd.Env = append(os.Environ(), "KUBERNETES_EXEC_INFO="+string(info))
	for _, e := range t.entry.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s of the kubeconfig gives no token: %w: %s", ErrUnavailable, t.entry.Command, err, strings.TrimSpace(complaints.String()))
	}
	var said struct {
		Status struct {
			Token               string    `json:"token"`
			ExpirationTimestamp time.Time `json:"expirationTimestamp"`
		} `json:"status"`
	}
	if err := json.Unmarshal(out, &said); err != nil || said.Status.Token == "" {
		return "", fmt.Errorf("%w: %s of the kubeconfig gives no token", ErrUnavailable, t.entry.Command)
	}
	t.value, t.until = said.Status.Token, said.Status.ExpirationTimestamp
	return t.value, nil
}
