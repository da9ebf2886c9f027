// Package posting makes the posts that a run asks for, finds those whose answer
// was lost, and keeps the cards that were posted up to date.
package posting
