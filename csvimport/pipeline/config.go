package pipeline

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stepback/adaptive/breaker"
	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/local"
	"stepback/local/services/lambda/functions"
	"stepback/statemachine"
	"stepback/tasks/faults"
)

// Config says how a pipeline is built. Dir is required; the zero value of everything else is the default.
type Config struct {
	// Dir is the data directory: objects, database, journal, logs, notifications.
	Dir string
	// Database is "sqlite" (the default, a file in Dir) or a postgres:// address.
	Database string
	// Concurrency is how many child executions run at once; default 80 in bulk and 16 in other shapes.
	Concurrency int
	// Shape is what a child execution does with its rows; see statemachine.Shape. The default is Bulk, and Single for a
	// Batch of 1.
	Shape statemachine.Shape
	// Batch is how many rows one child execution takes, 1 to 500; default 250, in the shape Batch 100, in Single 1.
	Batch int
	// ToleratedFailurePercentage is 0 to 100; nil means 5.
	ToleratedFailurePercentage *float64
	// MaxBytes is the size in bytes of the largest file that is imported; default 104857600.
	MaxBytes int64
	// Faults are injected into the invocations of the three functions, decided by Seed.
	Faults []faults.Spec
	Seed   uint64
	// VirtualTime lets every wait pass at once, with the timestamps it would have had.
	VirtualTime bool
	// Patience is how long a function may really take in virtual time before it is taken to hang; see engine.Config.
	Patience time.Duration
	// Bootstraps is a directory with NAME/bootstrap binaries; when set the functions run as processes of their own.
	Bootstraps string
	Log        *slog.Logger
	// DiskFull is called when the disk has no room for the journal in Dir or for the SQLite database. It has to end the
	// process; the next run on the same directory goes on where this one came to. Without it a full disk is a panic.
	DiskFull func()

	// Store makes the store that the functions use of the one of the database, so that scenarios and tests can have it
	// break; nil changes nothing.
	Store func(csvimport.Store) csvimport.Store

	// Version is that of the program, for those who ask the platform.
	Version string
	// Control is that of the platform; see local.Config.
	Control func(*local.Platform, http.ResponseWriter, *http.Request)

	// Ephemeral keeps executions and state machines in memory, for scenarios that nobody goes on with.
	Ephemeral bool
	// Circuit is told where the circuit of a callee stands whenever that has changed; nil is not called.
	Circuit func(callee string, circuit breaker.Circuit)
	// Adjust, if not nil, may change the program of a function, for scenarios and tests of functions that misbehave.
	Adjust func(name string, program *functions.Program)
}

const (
	region  = "us-east-1"
	account = "000000000000"

	inputBucket  = "csv-input"
	resultBucket = "csv-results"
	machineName  = "csv-import"
	topicName    = "csv-import-notifications"

	defaultConcurrency = 16
	// bulkConcurrency keeps enough rows on their way for two full transactions of the store, so that one is written
	// while the children of the other end and the next begin.
	bulkConcurrency = 80
	defaultBatch    = 100 // where each row is an invocation
	defaultBulk     = 250
	// batchConcurrency is how many rows of a batch are applied at once, the most that an inline Map does.
	batchConcurrency = 40
)

// unsynced is the option of an SQLite address that does without a sync per commit.
const unsynced = "?synchronous=normal"

// DefaultTolerance is the tolerated failure percentage when none is given.
const DefaultTolerance = 5.0

// ConfigError says which setting of a Config is out of range.
type ConfigError struct{ text string }

// Error implements error.
func (e *ConfigError) Error() string { return e.text }

func wrong(format string, args ...any) error { return &ConfigError{fmt.Sprintf(format, args...)} }

// defaults fills in what is not set and checks the rest.
func (c *Config) defaults() error {
	if c.Dir == "" {
		return wrong("a data directory is required")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	c.Dir = dir
	c.shape()
	if c.ToleratedFailurePercentage == nil {
		t := DefaultTolerance
		c.ToleratedFailurePercentage = &t
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	switch t := *c.ToleratedFailurePercentage; {
	case c.Concurrency < 1 || c.Concurrency > 10_000:
		return wrong("concurrency %d is not between 1 and 10,000", c.Concurrency)
	case c.Batch < 1 || c.Batch > statemachine.MaxBatchSize:
		return wrong("batch %d is not between 1 and %d (see docs/decisions/005-batches.md)", c.Batch,
			statemachine.MaxBatchSize)
	case !slices.Contains(statemachine.Shapes(), c.Shape):
		return wrong("shape %q is none of bulk, batch and single", c.Shape)
	case c.Shape == statemachine.Single && c.Batch != 1:
		return wrong("batch %d does not fit the shape single, which takes one row", c.Batch)
	case c.MaxBytes < 0:
		return wrong("the largest file cannot have %d bytes", c.MaxBytes)
	case !(t >= 0 && t <= 100):
		return wrong("tolerated failure percentage %v is not between 0 and 100", t)
	}
	if c.Database, err = DatabaseURL(c.Dir, c.Database); err != nil {
		return err
	}
	if _, options, ok := database.SQLitePath(c.Database); c.VirtualTime && ok && options == "" {
		// In virtual time retries come one at a time, so that each would wait for a sync of its own; a simulation need
		// not survive a loss of power.
		c.Database += unsynced
	}
	return nil
}

// shape fills in the shape, the size of batches and the number of children, which decide each other's defaults.
func (c *Config) shape() {
	if c.Shape == "" {
		c.Shape = statemachine.Bulk
		if c.Batch == 1 {
			c.Shape = statemachine.Single
		}
	}
	if c.Concurrency == 0 {
		c.Concurrency = defaultConcurrency
		if c.Shape == statemachine.Bulk {
			c.Concurrency = bulkConcurrency
		}
	}
	if c.Batch == 0 {
		c.Batch = map[statemachine.Shape]int{statemachine.Bulk: defaultBulk, statemachine.Batch: defaultBatch,
			statemachine.Single: 1}[c.Shape]
	}
}

// calls is how many calls of the database there may be at a time while no row fails: by the functions of a platform on
// which anything may be imported, as many as the defaults come to in any shape.
func (c *Config) calls() int {
	if c.Shape == "" {
		return defaultConcurrency * batchConcurrency
	}
	return statemachine.Options{Shape: c.Shape, Concurrency: c.Concurrency, BatchConcurrency: batchConcurrency}.Calls()
}

// DatabaseURL is the address of the database that a --db option and a data directory name.
func DatabaseURL(dir, name string) (string, error) {
	switch {
	case name == "" || name == "sqlite":
		return "sqlite:" + filepath.Join(dir, "users.db"), nil
	case strings.HasPrefix(name, "sqlite:"), strings.HasPrefix(name, "postgres://"),
		strings.HasPrefix(name, "postgresql://"):
		return name, nil
	default:
		return "", wrong("database %q is neither sqlite nor a postgres:// address", database.Mask(name))
	}
}
