// Package egress is the only way out: every connection whose far end a model, a
// page or a foreign tool can influence is dialled here. A name is resolved, every
// address of it is checked, and one of the checked addresses is dialled, so that a
// name that answers differently the second time gains nothing.
//
//	address.go   which addresses are nobody's to reach, and why, in words
//	host.go      patterns of hosts: example.com, *.example.com, localhost:8080
//	guard.go     the dialer: names, ports, addresses
//	http.go      the transport and the client on top of it: schemes, redirects, bytes, time
//	repeat.go    requests made again that failed for a passing reason
package egress
