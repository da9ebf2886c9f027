// Package prompt turns a run into a request to a model. Prompts are files with
// an id, a version, a model pin and the functions that they offer; their hash
// is in every event that they lead to.
//
// What does not live here: deciding when to ask (agent) and asking (agent/loop).
package prompt
