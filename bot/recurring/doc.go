// Package recurring keeps schedules, of reports and of goals, and serves their
// turns: each turn once, whichever process looks first.
//
//	clock.go      Clock: looks at all schedules every few seconds
//	  goal.go     a turn of a goal: begins a run
//	  report.go   a turn of a report: posts one, if there is news
//	tick.go       a turn on its way: its keys, and how far the schedule is served then
//	sweep.go      one look at all schedules, and the reports that are settled
//	reporter.go   Reporter: makes reports about runs
//	schedule.go   Schedule, and Schedules in the configuration and the store
//	words.go      a schedule in words
//
// Reading "every weekday at 9:00" is bot/schedule's, the text of a report bot/digest's.
package recurring
