// Package text makes what other people wrote fit to be shown in chat: on one
// line, quoted, escaped for Markdown, with hidden characters written out. Plain
// values in words (numbers, money, times) are agent/format.
package text
