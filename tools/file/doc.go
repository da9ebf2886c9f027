// Package file is the tools for the files of the workspace: read_file,
// write_to_file, append_to_file, delete_file, list_files and search_files.
//
//	file.go     the six tools, and what all of them begin with
//	read.go     the tool read_file: lines of a text, a description of anything else
//	list.go     the tool list_files: files, or their lines and sizes by folder or ending
//	search.go   the tool search_files: lines that hold a text or match an expression
//	walk.go     the way through folders that list_files and search_files share
//	glob.go     file patterns
//	effect.go   what the changing tools share: prepared for a person to see, made under a lock, never twice
//	write.go    the tools write_to_file, append_to_file and delete_file
//	preview.go  what a person sees of a change before it is made
//	diff.go     two texts compared line by line
//
// Writing, appending and deleting can be asked for after a crash: Prepare
// notes size and SHA-256 before and after, Run and Probe compare under a lock.
//
// What does not live here: paths, locks and atomic replacement
// (tools/workspace), and who may call what (tools/policy).
package file
