// Package redistest starts a real redis-server as a child of a test, on a
// random port of the loopback with a directory of its own, and ends it with
// the test. It can be killed and started again on the same port and data.
//
//	server.go    A Redis of its own for a test
//	sentinel.go  A Sentinel group for a test
//	cluster.go   A Redis Cluster for a test
//	guard.go     Servers do not outlive the test's process, however that ends
//	loss.go      A server that loses the end of what it had acknowledged
//
// What does not live here: the store (memory/redis), the conformance suite
// (memory/storetest), imitations of Redis.
package redistest
