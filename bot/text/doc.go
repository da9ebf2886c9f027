// Package text makes what other people wrote fit to be shown in chat: on one
// line, quoted, escaped for Markdown, without what could deceive. Plain values in
// words (numbers, money, times) are agent/format; naming people is bot.Mention.
package text
