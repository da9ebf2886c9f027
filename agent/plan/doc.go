// Package plan judges and orders plans: it reads them (Parse), finds what is
// wrong with them and repairs what may be repaired (Check, rules V1 to V22),
// says what to do first (Order, Ready, Blocked, Critical), puts values in place
// of placeholders (Expand, ExpandJSON), joins a running plan with a new one
// (Merge, Extend) and draws it as text (Text).
//
//	check.go      Check: all rules · revise.go  Merge, Extend: a plan that changes
//	links.go flow.go duplicate.go action.go catalogue.go worth.go stages.go  the rules
//	draft.go      a plan under examination, which the rules share
//	parse.go      Parse: what models write · foreign.go  shapes of other systems
//	order.go      what to do first · critical.go  the longest path and the slack
//	expand.go     values in place of placeholders · text.go  a plan for people
//	graph.go      the graph underneath · words.go  words, stems, sets of them
//
// Everything here is pure: the same plan gives the same findings in the same
// order. What does not live here: asking a model for a plan, asking people about
// it, running tasks, and the states of a run, which arrive as arguments.
//
// # Readings of the rules
//
// Where the rules leave room, this package reads them as follows.
//
//   - V4 counts the edges that follow from inputs. One cycle is printed.
//   - V12, only planning verbs: the title is split into its parts ("… and …");
//     every part must be planning. A part is planning without doubt when its verb
//     has no other sense (plan, prioritise, strategise) or everything it speaks of
//     is planning itself (goal, tasks, resources, roadmap); such a task passes only
//     with a tool, an output, and either a concrete object (a path, a file,
//     quoted text, a placeholder) or a goal that asks for just that. A planning
//     verb with another object ("Identify the largest file") passes with a tool
//     and an output or an acceptance.
//   - V12, restates: the title says the same as the goal or the parent's title
//     and the instructions bring fewer than three new words (one, when it is the
//     only task and has a tool and an output or an acceptance).
//   - V13: duplicates are merged in the plan returned only where nothing is lost
//     by it: same instructions, tools and role, and no cycle comes of it. Near
//     duplicates are named and left alone.
//     Instructions stand for arguments when two tasks name no outputs and say at
//     least four words; in HuggingGPT's shape args do, and titles do not count.
//   - V15: of several goals one is served when a task names it (serves), or a task
//     that names none shares one of its words other than the commonest ones
//     ("write", "make", "the"). It is a doubt for people and the judge, no error.
//   - V17: a name without a producer is an error unless it is no identifier (${a + b}) or in capitals
//     only, as variables of a shell are. A name that an ancestor produces but that
//     is not among the task's inputs stays as it is: a warning.
//     In HuggingGPT's shape <GENERATED>-ID is the placeholder.
//   - V20: the model says that tasks need nothing of each other (independent);
//     where no task has a dependency and it does not, they are chained.
//   - V18: levels are those of the hierarchy (a task that add_tasks made is one
//     level below its maker; "t2.1" is below "t2"), not the length of a chain of
//     dependencies. Fan-out counts the tasks that depend directly on one task.
package plan
