// Package calc is the tool calculator: exact decimal arithmetic for a model
// that cannot do it in its head.
//
//	calc.go      the tool
//	parse.go     the parser, which evaluates while it reads
//	function.go  the functions and constants of an expression
//	number.go    decimals that know whether they were rounded
//
// What does not live here: programs (tools/code) and charts (tools/plot).
package calc
