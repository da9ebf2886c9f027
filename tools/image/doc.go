// Package image is the tool generate_image: a picture made from words by the
// model's endpoint, as a file of the run.
//
// What does not live here: charts (tools/plot), and how files reach a thread (bot).
package image
