// Package redact takes secrets out of texts: those that the configuration holds, as
// they are and in the usual encodings, and whatever has the shape of a well-known
// token. It stands at the doors: a tool's result before it is written down, what a
// model is sent, what is logged, what is posted, files that are uploaded. Texts
// without a secret come out as they went in, byte for byte.
package redact
