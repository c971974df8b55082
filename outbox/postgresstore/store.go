package postgresstore

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/internal/pgxlimits"
)

// Store implements outbox.Store, and deadletters.Store for the outbox's dead letters.
type Store struct {
	pool  *pgxpool.Pool
	keyed atomic.Bool // the last claim saw messages with keys
	head  head
	lost  lostClaims
}

// Open connects to the database in a postgres:// connection string, and creates or migrates the outbox. Several
// processes may do so at once. The string takes pgx's parameters (pool_max_conns, sslmode …). configure can change
// settings that the string cannot express; it may be nil. Waits for the server are limited as the package's
// documentation describes.
func Open(ctx context.Context, url string, configure func(*pgxpool.Config)) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database address is not valid: %w", err) // pgx masks the password
	}
	params := config.ConnConfig.RuntimeParams
	setDefault(params, "application_name", "stepback-outbox")
	// Plans are cached while the table grows from nothing to millions of rows, so a plan that reads the whole table
	// is always wrong in the end.
	for _, off := range []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
		setDefault(params, off, "off")
	}
	if configure != nil {
		configure(config)
	}
	pgxlimits.Set(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the outbox: %w", err)
	}
	if err := migrate(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open the outbox: %w", err)
	}
	return &Store{pool: pool}, nil
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

// batch runs statements in one transaction and one round trip, and returns the number of rows that each changed.
func (s *Store) batch(ctx context.Context, b *pgx.Batch) ([]int64, error) {
	results := s.pool.SendBatch(ctx, b)
	changed := make([]int64, 0, b.Len())
	var failed error
	for range b.Len() {
		tag, err := results.Exec()
		if err != nil {
			failed = err
			break
		}
		changed = append(changed, tag.RowsAffected())
	}
	if err := results.Close(); failed == nil {
		failed = err
	}
	return changed, failed
}
