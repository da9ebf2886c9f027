// Package config is the configuration of a process: one plain struct of every
// key of deckhand.yaml, with its default and its bounds, and the reading of it
// from the file, the environment and the flags.
//
//	config.go   the keys, their defaults, bounds and variables
//	channel.go  what holds in one channel
//	load.go     Load: defaults, file, environment, flags, one over the other
//	read.go     the file: YAML nodes beside the struct, every problem with its line
//	scalar.go   values: durations, money, sizes, words
//	form.go     texts with a shape: principals, addresses, zones, URLs
//	secret.go   values that are never printed, and the files that hold them
//	check.go    what several keys say together
//	nearest.go  which known word an unknown one may mean
//	flag.go     --budget and --yes-to
//	key.go      the list of keys, for the documentation
//
// What the values are for lives in package app, which wires a process by them.
package config
