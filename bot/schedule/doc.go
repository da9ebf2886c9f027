// Package schedule reads when something is to happen, in words ("every weekday
// at 9:00"), as a cron line ("0 9 * * 1-5") or as a distance ("@every 90m"),
// and says when that is: the next tick, and what is due after a pause. It is
// pure: the same text, zone and anchor give the same ticks on every replica.
//
// Through a change of the clocks, schedules with fixed hours follow the clock
// on the wall: what falls into the gap ticks once, at the first instant after
// it; what exists twice ticks the first time. Schedules without fixed hours
// ("every 15 minutes", "every 2 hours", "*" or "*/2" as hours) go on by elapsed
// time: every hour that passes has its ticks, none twice.
//
// What does not live here: timers, names and stores of schedules, and what
// happens at a tick (bot).
package schedule
