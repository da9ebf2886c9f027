// Package crashtest kills the engine. Its tests start real worker processes on
// a real store, with a model behind HTTP, real files, and a far end that counts
// what it receives, answers late and loses answers; then they kill the workers
// at every commit and every effect, freeze them beyond their leases, and kill
// the store's server, and look whether anything that was acknowledged is lost
// or anything that was done is done twice.
//
// The test binary is the worker as well: TestMain looks for its orders in the
// environment. DECKHAND_SOAK=1 makes the tests long: leases as they are by
// default, and 100 random kills on each store.
//
// Nothing but tests and what they need lives here. What a store promises by
// itself is tested in memory/storetest.
package crashtest
