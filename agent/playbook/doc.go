// Package playbook reads how a team works from files: roles (Markdown with front
// matter) and playbooks (YAML: stages with roles, artifacts, checks and
// reviewers), and makes plans of them.
//
//	library.go   roles and playbooks by name; which of them fit a goal
//	role.go      a role's file · book.go  a playbook's file
//	check.go     what is wrong in them, with file and line: names, tools, joints
//	plan.go      a playbook becomes a plan; a plan gets its roles and stages
//	steps.go     a person's numbered steps become a plan
//	shipped.go   the roles, playbooks and rehearsals that come with the program
//
// Everything here is pure but for the files that are embedded. What does not live
// here: reading folders, judging plans (agent/plan, V22), working them.
package playbook
