// Package slack is the whole house on a Slack workspace: every scenario of
// e2e/chat over Socket Mode and over signed HTTP requests, and its crash suite.
//
//	slack_test.go      the ways in, and how Deckhand connects
//	workspace_test.go  the people of the suite in adapters/slack/slacktest
//	read_test.go       what people can read of a message
//	crash_test.go      Deckhand is killed while it talks to Slack
//
// What only Slack promises is tested beside the adapter, in adapters/slack.
package slack
