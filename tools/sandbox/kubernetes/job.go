package kubernetes

// What is run, and its life: made, waited for, read, removed.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Job is one container that runs once.
type Job struct {
	Name  string // of the Job: lower case, digits, hyphens, at most 63
	Image string // of the command

	// Runner is an image that has this program, at Program. Its init container
	// calls it with Install, which puts it at InstallTarget; there it is called
	// with Words, and finds Order in its variables.
	Runner, Program string
	Install, Words  []string
	Order           []byte // at most LargestOrder

	Work string // an empty folder of the command
	// Folder is a further folder: the volume of Claim, or without one an empty one.
	Folder, Claim string
	ReadOnly      bool // of Claim

	Memory, Disk int64   // bytes
	Processor    float64 // processors at once
	Wall         time.Duration

	RuntimeClass string
	PullSecrets  []string
}

// Patience with a cluster: images are loaded and nodes made in minutes; a pod that
// has ended is removed by the cluster where nobody did.
const (
	startPatience = 5 * time.Minute
	endPatience   = 30 * time.Second
	keepFor       = 5 * time.Minute
	removeTime    = 10 * time.Second

	firstLook   = 100 * time.Millisecond
	longestLook = time.Second
)

// Bounds on what is read, in bytes.
const (
	largestAnswer = 16 << 20
	largestLog    = 16 << 20
)

// ErrUnavailable is the cause where a job could not be run, or nobody knows how it went.
var ErrUnavailable = errors.New("the cluster does not run it")

// Run runs a job to its end and removes it. An error is ErrUnavailable or the
// context's.
func (c *Cluster) Run(ctx context.Context, j Job) (Ending, error) {
	if len(j.Order) > LargestOrder {
		return Ending{}, fmt.Errorf("%w: what the command needs has %d bytes packed, a Job holds %d", ErrUnavailable, len(j.Order), LargestOrder)
	}
	defer c.remove(ctx, j.Name) // also where nobody knows whether it was made
	if err := c.do(ctx, http.MethodPost, c.jobs(), nil, j.Manifest(c.namespace), nil); err != nil {
		return Ending{}, err
	}
	return c.await(ctx, j)
}

// DryRun asks the API server whether it would take the job: its form, its
// admission rules, the account's rights.
func (c *Cluster) DryRun(ctx context.Context, j Job) error {
	return c.do(ctx, http.MethodPost, c.jobs(), url.Values{"dryRun": {"All"}}, j.Manifest(c.namespace), nil)
}

// await looks at the pod until it has ended.
func (c *Cluster) await(ctx context.Context, j Job) (Ending, error) {
	seen, started := false, time.Now()
	pause := firstLook
	for {
		p, err := c.pod(ctx, j.Name)
		if err != nil {
			return Ending{}, err
		}
		seen = seen || p != nil
		switch {
		case p == nil && seen, p == nil && time.Since(started) > startPatience:
			return c.withoutPod(ctx, j.Name, seen)
		case p == nil:
		case p.ended():
			return c.ending(ctx, p)
		case p.hopeless() != "":
			return Ending{}, fmt.Errorf("%w: %s", ErrUnavailable, p.hopeless())
		case !p.began() && time.Since(started) > startPatience:
			return Ending{}, fmt.Errorf("%w: its pod did not start within %s: %s", ErrUnavailable, startPatience, p.waitsFor())
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return Ending{}, fmt.Errorf("stopped: %w", ctx.Err())
		case <-t.C:
		}
		pause = min(pause*3/2, longestLook)
	}
}

// ending reads the log of a pod that has ended.
func (c *Cluster) ending(ctx context.Context, p *pod) (Ending, error) {
	e := p.ending()
	text, err := c.text(ctx, c.path("pods", p.Metadata.Name, "log"), url.Values{"container": {"command"}, "limitBytes": {strconv.Itoa(largestLog)}})
	if err != nil && e.Reason == "" {
		return e, err
	}
	e.Log = text
	return e, nil
}

// withoutPod says what became of a job whose pod is gone, or never was.
func (c *Cluster) withoutPod(ctx context.Context, name string, seen bool) (Ending, error) {
	var j struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := c.do(ctx, http.MethodGet, c.jobs()+"/"+name, nil, nil, &j); err != nil {
		return Ending{}, err
	}
	for _, k := range j.Status.Conditions {
		if k.Type == "Failed" && k.Status == "True" {
			if k.Reason == TooLong {
				return Ending{Code: codeKilled, Reason: TooLong}, nil
			}
			return Ending{}, fmt.Errorf("%w: %s: %s", ErrUnavailable, k.Reason, k.Message)
		}
	}
	if seen {
		return Ending{}, fmt.Errorf("%w: its pod was removed while it ran", ErrUnavailable)
	}
	return Ending{}, fmt.Errorf("%w: no pod of it was made within %s; kubectl get events says why: a quota, an admission rule, a missing account", ErrUnavailable, startPatience)
}

// pod is the job's pod, nil: there is none.
func (c *Cluster) pod(ctx context.Context, job string) (*pod, error) {
	var list struct{ Items []pod }
	err := c.do(ctx, http.MethodGet, c.path("pods"), url.Values{"labelSelector": {jobLabel + "=" + job}, "limit": {"1"}}, nil, &list)
	if err != nil || len(list.Items) == 0 {
		return nil, err
	}
	return &list.Items[0], nil
}

// remove removes the job with its pod, also where the caller gives up. What
// cannot be removed now the cluster removes by itself.
func (c *Cluster) remove(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer cancel()
	_ = c.do(ctx, http.MethodDelete, c.jobs()+"/"+name, nil, object{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background", "gracePeriodSeconds": 0}, nil)
}
