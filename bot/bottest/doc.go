// Package bottest has what the tests of the packages under bot share: a store in
// memory, a platform that writes down what it is told to do, runs in which things
// happened, and golden files.
package bottest
