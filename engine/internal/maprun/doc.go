// Package maprun carries out distributed Maps. A Run is one goroutine: it reads items, applies the ItemSelector,
// batches them, starts child executions up to the limit, takes their ends from an inbox, judges failures against the
// tolerance and hands every end to the ResultWriter. One that has been under way before goes on with the items that no
// child execution has.
//
// Around it is a Host: it registers child executions and tells the time. What is kept is in a journal, items and
// results are in an object store, and the clock is held while the Run works. The package knows nothing else of the
// engine, and never runs an execution itself.
package maprun
