// Package maprun runs distributed Maps. A Run is one goroutine: it reads items, applies the ItemSelector, batches
// them, starts child executions up to the limit, receives their ends through an inbox, compares failures with the
// tolerance and passes every end to the ResultWriter. A Run that is resumed continues with the items that have no
// child execution.
//
// A Host registers child executions and provides the time. State is stored in a journal, items and results in an
// object store, and the Run holds the clock while it works. The package has no other dependency on the engine, and
// never runs an execution itself.
package maprun
