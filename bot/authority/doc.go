// Package authority decides who may do what: start runs, steer them, decide
// their questions; and who is notified of a question (audience.go).
package authority
