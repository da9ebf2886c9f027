// Package lookup answers what people look up beside a run's card: the tools that
// runs have, and why a run did what it did.
//
//	tools.go  Shelf: the commands about tools
//	why.go    Why: the newest calls of a run with the reasons that the model gave
//
// Commands are bot/intake's, cards bot/card's.
package lookup
