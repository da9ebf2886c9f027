// Package kubernetestest is an API server of Kubernetes for tests: the paths,
// states and refusals that running a Job meets, over TLS, with a token, and with
// the published schema of Jobs, so that the client under test is the one that
// ships. What a pod does is the test's own.
package kubernetestest
