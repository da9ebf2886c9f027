// Package watchdog finds runs that nothing comes of, whoever works them: they
// are due and no worker takes them, they wait for nobody, their posts do not
// reach people, their check-ins fail to come.
//
//	watchdog.go  Watchdog: the sweep over a store's runs, its alerts, waking
//	health.go    what a fold says about whom its run waits for
//
// Working runs is agent/loop's; what the strands do next is agent's.
package watchdog
