package openapi

// This file is a document as a source of tools. A document that changed is read
// again before the next call: nothing has to be started anew.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// Config says where a document is, and how its operations are called.
type Config struct {
	Name     string
	Document string // a file or a URL
	Server   string // the base address, empty: the document's first
	// Credentials are put into each request.
	Credentials Credentials
	// Secrets are values that are shown to nobody, wherever an answer repeats them.
	Secrets []string
	// Timeout bounds one call; 0 is 1 minute.
	Timeout time.Duration
	// Reach is how the hosts are reached ("HOST:PORT") that the operator named: in
	// the configuration, or in a document that is a file; others as strangers. Nil:
	// by http.DefaultTransport.
	Reach func(named []string) (http.RoundTripper, error)
	// Save keeps a file of an answer in a run's folder and returns its path there.
	// One that is there already stays. Nil: files are only told of.
	Save func(folder, name string, data []byte) (path string, err error)
	Log  *slog.Logger
}

// Credentials are what a service knows its caller by. Values are never shown.
type Credentials struct {
	Bearer string
	Basic  string // "user:password"
	Header map[string]string
	Query  map[string]string
	Cookie map[string]string
}

// Bounds of documents, and how often they are looked at.
const (
	maxDocument    = 32 << 20 // bytes
	maxOperations  = 5000
	defaultTimeout = time.Minute
	lookEvery      = 500 * time.Millisecond // at a file
	askEvery       = time.Minute            // for a document at an address
	freshFor       = 2 * time.Second        // a document at an address is not asked for again before a call
	fetchWait      = 20 * time.Second
	freshWait      = 3 * time.Second
)

// Source is one document as a source of tools. It may be used from many
// goroutines.
type Source struct {
	c       Config
	hidden  *strings.Replacer
	remote  bool
	changed chan struct{}
	stop    context.CancelFunc
	ended   context.Context //nolint:containedctx // it ends with the Source
	looking sync.Once
	over    sync.WaitGroup

	mu     sync.Mutex
	doc    *document
	stamp  string // of what was read: time and size, or the ETag
	asked  time.Time
	failed error // of a newer version that cannot be read
}

// ErrDocument is returned for a document that cannot be used.
var ErrDocument = errors.New("the OpenAPI document cannot be used")

// New is a source for the document, which is read when it is first needed.
func New(c Config) *Source {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	s := &Source{c: c, changed: make(chan struct{}, 1), hidden: hiding(c)}
	s.remote = strings.HasPrefix(c.Document, "http://") || strings.HasPrefix(c.Document, "https://")
	s.ended, s.stop = context.WithCancel(context.Background())
	return s
}

// client is a way to the hosts that the operator named.
func (s *Source) client(named ...*url.URL) (*http.Client, error) {
	c := &http.Client{Transport: http.DefaultTransport, CheckRedirect: sameHost}
	if s.c.Reach == nil {
		return c, nil
	}
	hosts := make([]string, len(named))
	for i, u := range named {
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		hosts[i] = net.JoinHostPort(u.Hostname(), port)
	}
	var err error
	c.Transport, err = s.c.Reach(hosts)
	return c, err
}

// errRedirect is said of an address that leads to another host.
var errRedirect = errors.New("it redirects to another host, which is not followed")

func sameHost(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; len(via) > 5 || r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return errRedirect
	}
	return nil
}

// Name is the document's name in the configuration.
func (s *Source) Name() string { return s.c.Name }

// Changed receives when the document changed.
func (s *Source) Changed() <-chan struct{} { return s.changed }

// Owned says that the operator wrote the document down: what changes in it is
// used from then on.
func (s *Source) Owned() bool { return true }

// Close ends the looking at the document.
func (s *Source) Close() error {
	s.stop()
	s.over.Wait()
	return nil
}

// Tools lists the operations as tools.
func (s *Source) Tools(ctx context.Context) ([]agent.Tool, error) {
	d, err := s.fresh(ctx, fetchWait)
	s.looking.Do(func() {
		s.over.Go(func() { guard.Run(s.c.Log, "the look at an OpenAPI document", s.look) })
	})
	if err != nil {
		return nil, err
	}
	list := make([]agent.Tool, len(d.operations))
	for i, o := range d.operations {
		list[i] = tool{s, o}
	}
	return list, nil
}

// look signals when the document changed, until the Source is closed.
func (s *Source) look() {
	every := lookEvery
	if s.remote {
		every = askEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.ended.Done():
			return
		case <-tick.C:
			_, _ = s.fresh(s.ended, fetchWait) // it signals what changed
		}
	}
}

// fresh is the document as it is now. Where a newer version cannot be read, it is
// the last good one, and the log says so.
func (s *Source) fresh(ctx context.Context, patience time.Duration) (*document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, stamp, err := s.read(ctx, patience)
	if err == nil && data == nil { // nothing new
		return s.doc, s.known()
	}
	var d *document
	if err == nil {
		d, err = parse(data)
	}
	if err == nil {
		err = s.address(d)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s (%s): %w", ErrDocument, s.c.Name, s.c.Document, err)
		if s.doc != nil {
			s.c.Log.Warn("an OpenAPI document changed and cannot be read: the last version is used", "name", s.c.Name, "err", err)
		}
		s.stamp, s.failed = stamp, err
		return s.doc, s.known()
	}
	again := s.doc != nil || s.failed != nil
	s.doc, s.stamp, s.failed = d, stamp, nil
	if again {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
	return d, nil
}

// known is why there is no document at all.
func (s *Source) known() error {
	if s.doc != nil {
		return nil
	}
	return s.failed
}

// read is the document's text where it is new, and what tells it from another.
func (s *Source) read(ctx context.Context, patience time.Duration) (data []byte, stamp string, err error) {
	if s.remote {
		return s.fetch(ctx, patience)
	}
	info, err := os.Stat(s.c.Document)
	if err != nil {
		return nil, "", err
	}
	stamp = fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
	switch {
	case stamp == s.stamp:
		return nil, stamp, nil
	case !info.Mode().IsRegular():
		return nil, stamp, errors.New("it is no file")
	case info.Size() > maxDocument:
		return nil, stamp, fmt.Errorf("it has %d MiB, at most %d MiB are read", info.Size()>>20, maxDocument>>20)
	}
	data, err = os.ReadFile(s.c.Document)
	return data, stamp, err
}

// fetch asks for the document at its address, unless it was asked for just now.
func (s *Source) fetch(ctx context.Context, patience time.Duration) (data []byte, stamp string, err error) {
	if s.doc != nil && time.Since(s.asked) < freshFor {
		return nil, s.stamp, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := s.question(ctx)
	if err != nil {
		return nil, s.stamp, err
	}
	client, err := s.client(r.URL)
	if err != nil {
		return nil, s.stamp, err
	}
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		if s.doc != nil { // the last version is good until there is another
			s.asked = time.Now()
			return nil, s.stamp, nil
		}
		return nil, s.stamp, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	s.asked = time.Now()
	return s.answered(resp)
}

// question is the request for the document, where it differs from the one that is
// known.
func (s *Source) question(ctx context.Context) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.c.Document, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", userAgent)
	if s.doc != nil && s.stamp != "" {
		if strings.HasPrefix(s.stamp, "\"") || strings.HasPrefix(s.stamp, "W/") {
			r.Header.Set("If-None-Match", s.stamp)
		} else {
			r.Header.Set("If-Modified-Since", s.stamp)
		}
	}
	return r, nil
}

// answered is the document in the answer of its address.
func (s *Source) answered(resp *http.Response) (data []byte, stamp string, err error) {
	switch {
	case resp.StatusCode == http.StatusNotModified:
		return nil, s.stamp, nil
	case resp.StatusCode != http.StatusOK:
		return nil, s.stamp, fmt.Errorf("the address answers %s", resp.Status)
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = fmt.Errorf("it has more than %d MiB", maxDocument>>20)
	}
	stamp = resp.Header.Get("ETag")
	if stamp == "" {
		stamp = resp.Header.Get("Last-Modified")
	}
	if err == nil && s.doc != nil && s.doc.same(data) {
		return nil, stamp, nil
	}
	return data, stamp, err
}

// address fixes where requests go.
func (s *Source) address(d *document) error {
	base, err := s.base(d)
	if err != nil {
		return err
	}
	d.base = base
	if s.doc != nil && s.doc.base.Host == base.Host && s.doc.base.Scheme == base.Scheme {
		d.client = s.doc.client
		return nil
	}
	d.client, err = s.client(s.named(base)...)
	return err
}

// base is the server's address: as it is configured, or as the document says.
func (s *Source) base(d *document) (*url.URL, error) {
	text := s.c.Server
	if text == "" {
		text = d.server()
	}
	base, err := url.Parse(text)
	if err == nil && s.remote && !base.IsAbs() {
		var at *url.URL
		if at, err = url.Parse(s.c.Document); err == nil {
			base = at.ResolveReference(base)
		}
	}
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") || base.User != nil {
		return nil, fmt.Errorf("its server %q is no address such as https://api.example.com/v1: set openapi.%s.server", text, s.c.Name)
	}
	base.RawQuery, base.Fragment = "", ""
	return base, nil
}

// named are the addresses that the operator wrote down: the document's, and the
// server's unless a document from elsewhere names it.
func (s *Source) named(base *url.URL) []*url.URL {
	named := []*url.URL{}
	if s.remote {
		if at, err := url.Parse(s.c.Document); err == nil {
			named = append(named, at)
		}
	}
	if s.c.Server != "" || !s.remote {
		named = append(named, base)
	}
	return named
}

// Describe is the source in words, for people who check the configuration.
func (s *Source) Describe() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doc == nil {
		return s.c.Document
	}
	return fmt.Sprintf("%s, %d operations at %s", s.doc.title(), len(s.doc.operations), s.doc.base.Redacted())
}
