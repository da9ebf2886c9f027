// Package digest sums up many runs in one report: what is done, what goes on,
// what is blocked, who is waited for, what it cost. It is pure: the same runs and
// period give the same text.
//
//	digest.go     New: the report, its headline, whether there is news
//	  lines.go    the sections Done, Doing, Blocked, Needs you
//	  spend.go    the section Spend
//	  chart.go    what is attached
//	  mark.go     where the live runs stand, as a hash
//	standings.go  the runs by where they stand
//	scope.go      whose runs, of which time, from what
//	late.go       what is said of a report that comes late
//
// When a report is made is bot/recurring's.
package digest
