// Package recurring keeps schedules (of reports and of goals) and serves their
// turns: each turn once, whichever process looks first.
package recurring
