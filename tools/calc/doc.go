// Package calc is the tool calculator: exact decimal arithmetic for a model
// that cannot do it in its head. A small parser (parse.go) evaluates while it
// reads; numbers (number.go) are decimals that know whether they were rounded.
//
// What does not live here: programs (tools/code) and charts (tools/plot).
package calc
