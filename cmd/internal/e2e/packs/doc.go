// Package packs holds goals that run end to end on the shipped packs: a scripted
// model, the real loop, the real tools, people who are asked.
package packs
