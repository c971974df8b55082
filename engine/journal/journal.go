// Package journal keeps executions: what they are, the events applied to them, how they ended and their histories. It
// is the seam between the engine and its disk: an event and the history it produced are committed here before any
// effect of it becomes visible, and what has not ended is read back from here after a crash. It never interprets what
// it keeps.
package journal

import (
	"context"
	"errors"
	"iter"

	"stepback/engine/history"
)

// The errors of a journal.
var (
	// ErrNotFound says that nothing of that ARN or ID is kept.
	ErrNotFound = errors.New("journal: no such execution")
	// ErrDiskFull says that new work is refused because the disk has no room for it. What was committed before is kept.
	ErrDiskFull = errors.New("journal: the disk is full; make room")
	// ErrBroken says that the disk refused a write, so that nothing can be committed any more until the journal is
	// opened again. What was committed before is kept.
	ErrBroken = errors.New("journal: the disk refused a write; when it is well again, start stepback again")
	// ErrDamaged says that what is kept cannot be read any more: it is not what was written.
	ErrDamaged = errors.New("the journal is damaged")
	// ErrClosed says that the journal has been closed.
	ErrClosed = errors.New("journal: closed")
)

// Journal is a store of executions. Implementations are safe for concurrent use.
type Journal interface {
	Executions
	Lists
	Recovery
	MapRuns
	// Commit takes a record up at once, so that the caller may change it when Commit returns, and calls done, once,
	// from any goroutine, when the record is durable; done must be quick. An error means that nothing of the record is
	// kept and that nothing of it may become visible. Records become durable in the order in which they were taken up.
	// EXPRESS executions are kept only when they end, and done may be called before that is durable.
	Commit(r *Record, done func(error))
	// Close makes durable what was taken up and releases the store.
	Close() error
}

// Executions is what is read of executions, under way and ended.
type Executions interface {
	// Execution returns what is kept of an execution, or ErrNotFound.
	Execution(ctx context.Context, arn string) (*Execution, error)
	// History returns an ended execution's history, or ErrNotFound.
	History(ctx context.Context, arn string) ([]history.Event, error)
	// Executions yields the executions whose ARN begins with a prefix, in the order of their ARNs.
	Executions(ctx context.Context, prefix string) iter.Seq2[*Execution, error]
}

// Recovery is what is read to go on after a crash.
type Recovery interface {
	// Unfinished yields the STANDARD executions that have not ended and whose ARN begins with a prefix, in the order of
	// their ARNs.
	Unfinished(ctx context.Context, prefix string) iter.Seq2[*Unfinished, error]
	// Events returns the events that were applied to a STANDARD execution that ended without success, in order, or
	// ErrNotFound.
	Signals(ctx context.Context, arn string) ([]history.Signal, error)
	// Definition returns a definition by its ID, or ErrNotFound.
	Definition(ctx context.Context, id string) (*Definition, error)
}

// MapRuns is what is kept of Map Runs.
type MapRuns interface {
	// PutMapRun keeps a Map Run as it is now and calls done, if it is not nil, like Commit does.
	PutMapRun(m *MapRun, done func(error))
	// MapRun returns a Map Run, or ErrNotFound.
	MapRun(ctx context.Context, arn string) (*MapRun, error)
	// MapRuns yields the Map Runs of the executions whose ARN, with a zero byte behind it, begins with a prefix, in the
	// order of those ARNs. So an ARN with a zero byte is a prefix of that execution alone.
	MapRuns(ctx context.Context, prefix string) iter.Seq2[*MapRun, error]
}
