// Package api makes Discord's REST calls for the adapter, within Discord's
// limits, and says what came of each in the errors of the chat contract.
//
//	client.go     Client: one call, its address and its token
//	limits.go     how much Discord allows, by route and for all together
//	errors.go     what a refusal means
//	retry.go      which calls are made again, and when
//	messages.go   reading messages page by page, and searching them
//	file.go       a message with its file, and attachments
//	wire.go       what Discord sends, as far as it matters here
//	snowflake.go  ids, which hold their time
//
// It knows nothing of cards, runs and addresses: discord says what is called
// where, draw what a message shows. The errors (bot.BusyError, bot.ErrGone …)
// are all that it takes from bot.
package api
