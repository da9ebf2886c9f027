// Package file is the tools for the files of the workspace: read_file,
// write_to_file, append_to_file, delete_file, list_files and search_files.
//
// Writing, appending and deleting can be asked for after a crash: Prepare
// notes size and SHA-256 before and after, Run and Probe compare under a lock.
//
// What does not live here: paths, locks and atomic replacement
// (tools/workspace), and who may call what (tools/policy).
package file
