// Package plot is the tool plot: values to a PNG in the workspace.
//
//	plot.go   the tool, which writes the picture
//	data.go   the many forms in which models send values and labels
//	draw.go   bars, lines, points and histograms
//	pie.go    pies, which gonum/plot does not have
//	style.go  colours, letters and ticks
//
// What does not live here: calculating the values (tools/code, tools/calc)
// and showing the picture in a chat (adapters).
package plot
