// Package bot is the front desk: it turns what people do (state a goal, answer
// a question, steer, stop) into facts in a run's journal, checks who may do
// what, and shows people where runs stand: cards, questions and reports in a
// form that every platform can draw (show_*.go, pure), posted and kept up to
// date by the voice (voice*.go).
//
// What does not live here: chat platforms and the terminal (adapters), working
// on runs (agent/loop), and deciding what to do next (agent).
package bot
