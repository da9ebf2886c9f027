// Package numbers is the tools that know what numbers stand for: units, dates and
// time zones, currencies.
//
//	unit.go      convert_units: exact, by units.yaml
//	date.go      date_time: moments, what is so long after them, what lies between them
//	span.go      lengths of time as people write them
//	currency.go  convert_currency: by the rates of a source that the configuration names
//
// What does not live here: arithmetic (tools/calc).
package numbers
