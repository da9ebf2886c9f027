// Package interact answers interactions (commands, clicks, forms) within the
// three seconds that Discord gives, and after them for a quarter of an hour.
//
//	reply.go  Reply: the first response, and what replaces it
//	proof.go  Verifier: requests over HTTP are signed, fresh, and taken once
//
// An interaction is read in discord, which also says what it is answered with;
// the calls are api's.
package interact
