package kubernetes

// What a pod's states mean, in words.

import (
	"fmt"
	"slices"
	"strings"
)

// Ending is how a job ended.
type Ending struct {
	Log    []byte // what its container put out
	Code   int    // the container's exit code
	Reason string // which of the cluster's bounds ended it: one of those below; empty: none
}

// The cluster's bounds.
const (
	OutOfMemory = "OOMKilled"
	Evicted     = "Evicted" // from its node: it wrote too much, or the node has too little
	TooLong     = "DeadlineExceeded"
)

const codeKilled = 137

// pod is what is read of a pod.
type pod struct {
	Metadata struct{ Name string }
	Status   struct {
		Phase, Reason, Message string
		Conditions             []struct{ Type, Status, Reason, Message string }
		InitContainerStatuses  []container
		ContainerStatuses      []container
	}
}

type container struct {
	Name  string
	State struct {
		Waiting    *struct{ Reason, Message string }
		Running    *struct{ StartedAt string }
		Terminated *struct {
			ExitCode        int
			Reason, Message string
		}
	}
}

func (p *pod) ended() bool { return p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" }

// began reports whether the command's container has been started.
func (p *pod) began() bool {
	return slices.ContainsFunc(p.Status.ContainerStatuses, func(c container) bool { return c.State.Running != nil || c.State.Terminated != nil })
}

// fatal are the reasons for which a container waits that time does not mend.
var fatal = []string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}

// hopeless says why the pod will never start, empty: it may.
func (p *pod) hopeless() string {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && slices.Contains(fatal, w.Reason) && w.Reason != "ErrImagePull" { // that one is tried again
			return fmt.Sprintf("its container %s does not start: %s: %s", c.Name, w.Reason, w.Message)
		}
	}
	return ""
}

// waitsFor is what a pod that has not started waits for.
func (p *pod) waitsFor() string {
	var words []string
	for _, k := range p.Status.Conditions {
		if k.Type == "PodScheduled" && k.Status != "True" {
			words = append(words, strings.TrimSpace(k.Reason+": "+k.Message))
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "PodInitializing" {
			words = append(words, strings.Trim(w.Reason+": "+w.Message, ": "))
		}
	}
	if len(words) == 0 {
		return "nobody says why"
	}
	return strings.Join(words, "; ")
}

// ending is how a pod that has ended did.
func (p *pod) ending() Ending {
	e := Ending{}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if t := c.State.Terminated; t != nil {
			e.Code = max(e.Code, t.ExitCode)
			if t.Reason == OutOfMemory {
				e.Reason = OutOfMemory
			}
		}
	}
	if p.Status.Reason == Evicted || p.Status.Reason == TooLong {
		e.Reason = p.Status.Reason
	}
	if e.Reason != "" && e.Code == 0 {
		e.Code = codeKilled
	}
	return e
}
