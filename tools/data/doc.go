// Package data is datasets: SQLite databases with a JSON Schema for each table,
// which runs make, fill from CSV and JSON, query and chart, and which packs bring
// along.
//
//	tool.go      the tools create_dataset, import_data, query_data, describe_data
//	chart.go     chart_data: a query drawn by tools/plot
//	change.go    a change of a dataset, made once
//	space.go     datasets by their names: a run's own, and those that packs give
//	describe.go  what a dataset holds, for a model
//	table.go     tables by JSON Schemas, and rows put into them
//	rows.go      rows of CSV, JSON and YAML
//	dataset.go   one dataset in memory: queries within bounds
//	schema.go    JSON values in their order; the schema of rows that have none
//
// A dataset is a file of the run's folder, datasets/NAME.db. Whoever uses it works
// on a copy in memory: nothing that a query does to it is kept, rows that a person
// may not see are taken out of the copy before the query, and a change is the
// file replaced, whole or not at all. No query reaches another file.
//
// What does not live here: what a pack is (tools/pack), how pictures are drawn
// (tools/plot).
package data
