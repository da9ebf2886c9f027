package kubernetes

// The Job as the cluster reads it. Each line is a wall or a bound; the golden file
// holds them, and the published schema says that a cluster takes them.

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
)

// Where things are in a pod.
const (
	toolFolder = "/deckhand"              // this program, from its own image
	program    = toolFolder + "/deckhand" // as it is called there
	tempFolder = "/tmp"
)

// Labels of everything that is made here, and the one of a single Job.
const (
	partLabel  = "app.kubernetes.io/component"
	partValue  = "sandbox"
	ownerLabel = "app.kubernetes.io/managed-by"
	ownerValue = "deckhand"
	jobLabel   = "deckhand.dev/job"
)

// nobody is who a command is.
const nobody = 65534

// OrderVariable begins the names of the variables that hold a pod's order, in
// pieces that one argument of a process may have.
const OrderVariable = "DECKHAND_ORDER_"

// LargestOrder is how many bytes an order may have: a Job and its pod hold it in
// base64 beside the rest, and the cluster's store takes 1.5 MiB of each.
const (
	LargestOrder = 720 << 10
	piece        = 96 << 10
)

// runnerMemory is what this program takes beside the command, in bytes.
const runnerMemory = 96 << 20

type object = map[string]any

// Manifest is the Job as the cluster reads it, for JSON.
func (j Job) Manifest(namespace string) map[string]any {
	labels := object{ownerLabel: ownerValue, partLabel: partValue, jobLabel: j.Name}
	return object{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": object{"name": j.Name, "namespace": namespace, "labels": labels},
		"spec": object{
			"completions": 1, "parallelism": 1, "backoffLimit": 0, // what runs twice is for the caller to decide
			"activeDeadlineSeconds":   seconds(startPatience + j.Wall + endPatience),
			"ttlSecondsAfterFinished": seconds(keepFor),
			"template":                object{"metadata": object{"labels": labels}, "spec": j.pod()},
		},
	}
}

// pod is the specification of the Job's only pod.
func (j Job) pod() object {
	tool := object{"name": "deckhand", "mountPath": toolFolder}
	toolRead := object{"name": "deckhand", "mountPath": toolFolder, "readOnly": true}
	disk := quantity(j.Disk)
	volumes := []object{
		{"name": "deckhand", "emptyDir": object{"sizeLimit": "256Mi"}},
		{"name": "temp", "emptyDir": object{"sizeLimit": disk}},
		{"name": "work", "emptyDir": object{"sizeLimit": disk}},
	}
	mounts := []object{toolRead, {"name": "temp", "mountPath": tempFolder}, {"name": "work", "mountPath": j.Work}}
	switch {
	case j.Claim != "":
		volumes = append(volumes, object{"name": "folder", "persistentVolumeClaim": object{"claimName": j.Claim, "readOnly": j.ReadOnly}})
		mounts = append(mounts, object{"name": "folder", "mountPath": j.Folder, "readOnly": j.ReadOnly})
	case j.Folder != "":
		volumes = append(volumes, object{"name": "folder", "emptyDir": object{"sizeLimit": "256Mi"}})
		mounts = append(mounts, object{"name": "folder", "mountPath": j.Folder})
	}
	small := object{"cpu": "100m", "memory": "64Mi"}
	p := object{
		"restartPolicy": "Never", "automountServiceAccountToken": false, "enableServiceLinks": false,
		"hostname": "sandbox", "terminationGracePeriodSeconds": 2, "dnsPolicy": "None",
		"dnsConfig": object{"nameservers": []string{"127.0.0.1"}}, // nobody is asked for names
		"securityContext": object{"runAsNonRoot": true, "runAsUser": nobody, "runAsGroup": nobody, "fsGroup": nobody,
			"seccompProfile": object{"type": "RuntimeDefault"}},
		"initContainers": []object{{"name": "deckhand", "image": j.Runner, "command": append([]string{j.Program}, j.Install...),
			"securityContext": confined(), "volumeMounts": []object{tool},
			"resources": object{"requests": small, "limits": object{"cpu": "1", "memory": "256Mi"}}}},
		"containers": []object{{"name": "command", "image": j.Image, "command": append([]string{program}, j.Words...), "env": j.variables(),
			"workingDir": j.Work, "securityContext": confined(), "volumeMounts": mounts, "terminationMessagePolicy": "File",
			"resources": object{
				"requests": object{"cpu": "100m", "memory": quantity(j.Memory/4 + runnerMemory)},
				"limits":   object{"cpu": strconv.FormatFloat(j.Processor, 'f', -1, 64), "memory": quantity(j.Memory + runnerMemory), "ephemeral-storage": quantity(2*j.Disk + 512<<20)},
			}}},
		"volumes": volumes,
	}
	if j.RuntimeClass != "" {
		p["runtimeClassName"] = j.RuntimeClass
	}
	if len(j.PullSecrets) > 0 {
		names := []object{}
		for _, s := range j.PullSecrets {
			names = append(names, object{"name": s})
		}
		p["imagePullSecrets"] = names
	}
	return p
}

// InstallTarget is where the init container puts this program.
func InstallTarget() string { return program }

// confined takes everything from a container that it need not have.
func confined() object {
	return object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "privileged": false, "capabilities": object{"drop": []string{"ALL"}}}
}

// variables hold the order.
func (j Job) variables() []object {
	text := base64.StdEncoding.EncodeToString(j.Order)
	list := []object{}
	for len(text) > 0 {
		n := min(piece, len(text))
		list = append(list, object{"name": fmt.Sprintf("%s%d", OrderVariable, len(list)), "value": text[:n]})
		text = text[n:]
	}
	return list
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// quantity is a number of bytes as the cluster writes them.
func quantity(n int64) string {
	if n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + "Mi"
	}
	return strconv.FormatInt(n, 10)
}
