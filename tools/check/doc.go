// Package check is the tool that looks at a task's result in the place of an
// opinion: a command in the sandbox, a file, a JSON Schema, a query. The engine
// calls it when a task with a check says that it is finished; no model is offered
// it. What it says of a check that passed begins with "passed: ".
//
// What does not live here: when a check is made and what follows from it (agent),
// the running of commands (tools/program).
package check
