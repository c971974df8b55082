package postgresstore

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/csvimport"
	"stepback/internal/pgxlimits"
	"stepback/retry"
)

// Session limits that apply unless the connection string sets others. The transaction of a record takes
// milliseconds, so one that waits longer is better retried.
const (
	defaultLockTimeout      = "5s"
	defaultStatementTimeout = "20s"
)

// Store is a csvimport.Store.
type Store struct {
	pool     *pgxpool.Pool
	combiner *combiner

	mu    sync.Mutex
	known map[csvimport.Run]numbers
}

// Open connects to the database that a postgres:// connection string names, and creates the tables if they are
// missing. Several processes may do so at once. The string takes pgx's parameters (pool_max_conns, sslmode …) and
// PostgreSQL's settings (lock_timeout …). Waits for the server are bounded, as the package's documentation
// describes.
func Open(ctx context.Context, url string) (*Store, error) { return OpenWith(ctx, url, Access{}) }

// OpenWith is like Open, for a server whose password changes while the program runs, or whose certificate authority
// the system does not know.
func OpenWith(ctx context.Context, url string, access Access) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, csvimport.Fail(retry.InvalidInput, "the database address is not valid: %w",
			err) // pgx masks the password
	}
	access.Apply(config)
	params := config.ConnConfig.RuntimeParams
	setDefault(params, "lock_timeout", defaultLockTimeout)
	setDefault(params, "statement_timeout", defaultStatementTimeout)
	setDefault(params, "application_name", "stepback")
	pgxlimits.Set(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failure("connect", err)
	}
	if err := migrate(ctx, pool); err != nil {
		pool.Close()
		return nil, failure("open the database", err)
	}
	s := &Store{pool: pool, known: map[csvimport.Run]numbers{}}
	s.combiner = newCombiner(s.applyRows)
	return s, nil
}

func setDefault(params map[string]string, name, value string) {
	if _, ok := params[name]; !ok {
		params[name] = value
	}
}

// Close waits for running calls and closes the connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}
