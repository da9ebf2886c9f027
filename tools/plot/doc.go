// Package plot is the tool plot: values to a PNG in the workspace. data.go
// reads what a model sends in its many forms, draw.go and pie.go draw it with
// gonum/plot, plot.go is the tool and writes the file.
//
// What does not live here: calculating the values (tools/code, tools/calc)
// and showing the picture in a chat (adapters).
package plot
