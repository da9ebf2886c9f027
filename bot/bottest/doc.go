// Package bottest has what the tests of the packages under bot share.
//
//	memory.go     a store in memory, at which somebody else can be faster
//	stage.go      a platform that writes down what it is told to do
//	people.go     who takes part, and where
//	tale.go       a run in which things happen; questions.go and review.go: asked of people
//	golden.go     cards as text, and files to compare them with
package bottest
