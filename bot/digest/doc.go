// Package digest sums up many runs in one report: what is done, what goes on,
// what is blocked, who is waited for, what it cost. It is pure.
package digest
