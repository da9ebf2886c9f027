// Package bot is the front desk: it turns what people do (state a goal, answer
// a question, steer, stop) into facts in a run's journal, checks who may do
// what, and says where runs stand.
//
// What does not live here: chat platforms and the terminal (adapters), working
// on runs (agent/loop), and deciding what to do next (agent).
package bot
