package pipeline

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stepback/adaptive/breaker"
	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/engine"
	"stepback/local"
	"stepback/local/services/lambda/functions"
	"stepback/statemachine"
	"stepback/tasks/faults"
)

// Config configures a pipeline. Dir is required; the zero value of everything else is the default.
type Config struct {
	// Dir is the data directory: objects, database, journal, logs, notifications.
	Dir string
	// Database is "sqlite" (the default, a file in Dir) or a postgres:// address.
	Database string
	// Concurrency is the maximum number of child executions that run at once; the default is 80 in bulk and 16 in
	// other shapes.
	Concurrency int
	// Shape is the way a child execution processes its rows; see statemachine.Shape. The default is Bulk, or Single
	// for a Batch of 1.
	Shape statemachine.Shape
	// Batch is the number of rows per child execution, 1 to 500. The default is 250 in the shape Bulk, 100 in Batch
	// and 1 in Single.
	Batch int
	// ToleratedFailurePercentage is 0 to 100; nil means 5.
	ToleratedFailurePercentage *float64
	// MaxBytes is the maximum size in bytes of an imported file; default validate.DefaultMaxBytes, 100 GiB.
	MaxBytes int64
	// PartBytes is the size in bytes above which a file is validated and applied in parts; default
	// statemachine.DefaultPartBytes, 128 MiB.
	PartBytes int64
	// Faults are injected into the invocations of the three functions. Seed determines which invocations fail.
	Faults []faults.Spec
	Seed   uint64
	// VirtualTime makes every wait pass at once, with the timestamps it would have had.
	VirtualTime bool
	// Patience is the real time, under virtual time, that a function may take before it is considered to hang; see
	// engine.Config.
	Patience time.Duration
	// Overran is called when a function has exceeded Patience; see engine.Config. nil is not called.
	Overran func(engine.Overrun)
	// Bootstraps is a directory with NAME/bootstrap binaries; if set, the functions run as separate processes.
	Bootstraps string
	Log        *slog.Logger
	// DiskFull is called when the disk is too full for the journal in Dir or for the SQLite database. It must end
	// the process; the next run on the same directory continues where this one stopped. If DiskFull is nil, a full
	// disk causes a panic.
	DiskFull func()

	// Store wraps the store that the functions use, so that scenarios and tests can make it fail; nil changes
	// nothing.
	Store func(csvimport.Store) csvimport.Store

	// Listener is the listener at which the platform serves its APIs; nil means a free port of 127.0.0.1. Close closes
	// it.
	Listener net.Listener

	// Version is the version of the program, as the platform reports it.
	Version string
	// Control is the Control of the platform; see local.Config.
	Control func(*local.Platform, http.ResponseWriter, *http.Request)

	// Ephemeral keeps executions and state machines in memory, for scenarios that are never resumed.
	Ephemeral bool
	// Circuit is called with the state of a callee's circuit whenever it has changed; it may be nil.
	Circuit func(callee string, circuit breaker.Circuit)
	// Adjust, if not nil, may change the program of a function, for scenarios and tests with misbehaving functions.
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
	// bulkConcurrency is the default number of concurrent children in bulk. It keeps enough rows in progress for
	// two full transactions of the store: one is written while the children of the other end and the next ones
	// start.
	bulkConcurrency = 80
	defaultBatch    = 100 // if each row is an invocation
	defaultBulk     = 250
	// rangeConcurrency is the number of ranges of a large file that are validated at once.
	rangeConcurrency = 4
	// batchConcurrency is the number of rows of a batch that are applied at once. It is the maximum of an inline
	// Map.
	batchConcurrency = 40
)

// unsynced is the option of an SQLite address that omits the sync on each commit.
const unsynced = "?synchronous=normal"

// DefaultTolerance is the default tolerated failure percentage.
const DefaultTolerance = 5.0

// ConfigError reports which setting of a Config is out of range.
type ConfigError struct{ text string }

// Error implements error.
func (e *ConfigError) Error() string { return e.text }

func wrong(format string, args ...any) error { return &ConfigError{fmt.Sprintf(format, args...)} }

// defaults fills in defaults and checks the settings.
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
		return wrong("batch %d is not possible with the shape single, which takes one row", c.Batch)
	case c.MaxBytes < 0:
		return wrong("the maximum file size cannot be %d bytes", c.MaxBytes)
	case c.PartBytes < 0 || c.PartBytes > statemachine.MaxPartBytes:
		return wrong("the size of a part cannot be %d bytes: it is 1 to %d", c.PartBytes, int64(statemachine.MaxPartBytes))
	case !(t >= 0 && t <= 100):
		return wrong("tolerated failure percentage %v is not between 0 and 100", t)
	}
	if c.Database, err = DatabaseURL(c.Dir, c.Database); err != nil {
		return err
	}
	if _, options, ok := database.SQLitePath(c.Database); c.VirtualTime && ok && options == "" {
		// In virtual time, retries come one at a time, so each would wait for its own sync. A simulation need not
		// survive a power failure.
		c.Database += unsynced
	}
	return nil
}

// shape fills in the defaults of the shape, the batch size and the number of children. They depend on each other.
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

// calls returns the maximum number of concurrent database calls while no row fails. If Shape is empty, as for the
// functions of a platform on which anything may be imported, it returns the maximum of the defaults over all
// shapes.
func (c *Config) calls() int {
	if c.Shape == "" {
		return defaultConcurrency * batchConcurrency
	}
	return statemachine.Options{Shape: c.Shape, Concurrency: c.Concurrency, BatchConcurrency: batchConcurrency}.Calls()
}

// DatabaseURL returns the address of the database for the value of --db and a data directory.
func DatabaseURL(dir, name string) (string, error) {
	switch {
	case name == "" || name == "sqlite":
		return "sqlite:" + databaseFile(dir), nil
	case strings.HasPrefix(name, "sqlite:"), strings.HasPrefix(name, "postgres://"),
		strings.HasPrefix(name, "postgresql://"):
		return name, nil
	default:
		return "", wrong("database %q is neither sqlite nor a postgres:// address", database.Mask(name))
	}
}
