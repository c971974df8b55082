// Package journal stores executions: their descriptions, the events applied to them, their outcomes and their
// histories. It is the seam between the engine and its disk: an event and the history it produced are committed here
// before any effect of it becomes visible, and after a crash the executions that have not ended are read back from
// here. The journal never interprets the data it stores.
package journal

import (
	"context"
	"errors"
	"iter"
	"time"

	"stepback/engine/history"
)

// The errors of a journal.
var (
	// ErrNotFound is returned if nothing is stored under that ARN or ID.
	ErrNotFound = errors.New("journal: no such execution")
	// ErrDiskFull is returned if new work is refused because the disk is full. Everything committed before is kept.
	ErrDiskFull = errors.New("the disk is full; free space")
	// ErrBroken is returned once the disk has refused a write. Nothing more can be committed until the journal is
	// opened again. Everything committed before is kept.
	ErrBroken = errors.New("journal: the disk failed a write; fix the disk, then start stepback again")
	// ErrDamaged is returned if stored data cannot be read any more because it differs from what was written.
	ErrDamaged = errors.New("the journal is damaged")
	// ErrClosed is returned once the journal has been closed.
	ErrClosed = errors.New("journal: closed")
)

// Journal is a store of executions. Implementations are safe for concurrent use.
type Journal interface {
	Executions
	Lists
	Recovery
	MapRuns
	// Commit copies the record before it returns, so the caller may then change it. It calls done once, from any
	// goroutine, when the record is durable; done must be quick. If done gets an error, nothing of the record is kept
	// and nothing of it may become visible. Records become durable in the order in which they were committed. EXPRESS
	// executions are stored only when they end, and done may be called before they are durable.
	Commit(r *Record, done func(error))
	// Close makes all committed records durable and releases the store.
	Close() error
}

// Executions reads executions, both running and ended.
type Executions interface {
	// Execution returns an execution's description, or ErrNotFound.
	Execution(ctx context.Context, arn string) (*Execution, error)
	// History returns an ended execution's history, or ErrNotFound.
	History(ctx context.Context, arn string) ([]history.Event, error)
	// Executions yields the executions whose ARN begins with a prefix, in the order of their ARNs.
	Executions(ctx context.Context, prefix string) iter.Seq2[*Execution, error]
}

// Recovery reads what is needed to resume after a crash.
type Recovery interface {
	// Unfinished yields the STANDARD executions that have not ended and whose ARN begins with a prefix, in the order of
	// their ARNs.
	Unfinished(ctx context.Context, prefix string) iter.Seq2[*Unfinished, error]
	// Signals returns the signals that were applied to a STANDARD execution that ended without success, in order, or
	// ErrNotFound.
	Signals(ctx context.Context, arn string) ([]history.Signal, error)
	// Definition returns a definition by its ID, or ErrNotFound.
	Definition(ctx context.Context, id string) (*Definition, error)
}

// Snapshots is implemented by journals that keep executions on disk.
type Snapshots interface {
	// Snapshot returns the executions as they are now. Close the snapshot before the journal.
	Snapshot() Snapshot
}

// Snapshot reads the executions and Map Runs of one moment: later commits, and executions that are removed later, do
// not change it. The disk space of what is removed meanwhile is freed after Close. It is safe for concurrent use,
// except for Close.
type Snapshot interface {
	Executions
	// MapRuns yields Map Runs as [MapRuns] does.
	MapRuns(ctx context.Context, prefix string) iter.Seq2[*MapRun, error]
	// EndedSince yields the executions that ended at or after a time and are no child executions of a Map Run, in the
	// order of their ends.
	EndedSince(ctx context.Context, since time.Time) iter.Seq2[*Execution, error]
	Close() error
}

// MapRuns stores and reads Map Runs.
type MapRuns interface {
	// PutMapRun stores the current state of a Map Run and calls done, if not nil, as Commit does.
	PutMapRun(m *MapRun, done func(error))
	// MapRun returns a Map Run, or ErrNotFound.
	MapRun(ctx context.Context, arn string) (*MapRun, error)
	// MapRuns yields the Map Runs of the executions whose ARN, followed by a zero byte, begins with prefix, in the
	// order of those ARNs. An ARN followed by a zero byte therefore selects exactly that execution.
	MapRuns(ctx context.Context, prefix string) iter.Seq2[*MapRun, error]
}
