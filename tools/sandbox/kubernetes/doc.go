// Package kubernetes runs one container of an image as a batch/v1 Job of a
// cluster, and tells how it ended.
//
//	job.go       what is run, and its life: made, waited for, read, removed
//	manifest.go  the Job as the cluster reads it
//	ending.go    what a pod's states mean, in words
//	client.go    requests to the API server
//	access.go    where the API server is and who asks: kubeconfig, or a pod's own account
//
// It speaks plain HTTP and JSON: client-go would be larger than everything else
// that a sandbox needs. It asks for little: Jobs are made, looked at and removed,
// pods and their logs read. Nothing is executed in a pod from outside, and no
// Secret or ConfigMap is made: what goes in stands in the Job, what comes back
// in its log.
//
// What does not live here: what the container does (tools/sandbox).
package kubernetes
