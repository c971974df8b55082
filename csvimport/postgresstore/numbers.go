package postgresstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
)

// maxRuns limits the number of cached runs.
const maxRuns = 1024

// numbers are the IDs of a file and a run in the tables.
type numbers struct {
	file int64
	run  int64 // 0 for a run without a name
}

// runID returns the run as stored in import_rows.
func (n numbers) runID() *int64 {
	if n.run == 0 {
		return nil
	}
	return &n.run
}

// entryOf converts a row of import_rows to an entry.
func entryOf(fingerprint, run *int64) ledger.Entry {
	switch {
	case fingerprint == nil:
		return ledger.Closed()
	case run == nil:
		return ledger.Counted(0, *fingerprint)
	}
	return ledger.Counted(*run, *fingerprint)
}

// number returns the IDs of a run. They are assigned on first use in separate transactions; an ID without rows does
// no harm.
func (s *Store) number(ctx context.Context, run csvimport.Run) (numbers, error) {
	s.mu.Lock()
	n, ok := s.known[run]
	s.mu.Unlock()
	if ok {
		return n, nil
	}
	n, err := s.register(ctx, run)
	if err != nil {
		return n, failure("register the file", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxRuns {
		clear(s.known)
	}
	s.known[run] = n
	return n, nil
}

const (
	findFile = "SELECT id FROM import_files WHERE bucket = $1 AND key = $2 AND etag = $3"
	addFile  = "INSERT INTO import_files (bucket, key, etag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
	findRun  = "SELECT id FROM import_runs WHERE file_id = $1 AND name = $2"
	addRun   = "INSERT INTO import_runs (file_id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING"
)

func (s *Store) register(ctx context.Context, run csvimport.Run) (n numbers, err error) {
	if n.file, err = s.findOrAdd(ctx, findFile, addFile, run.File.Bucket, run.File.Key, run.File.ETag); err != nil ||
		run.Name == "" {
		return n, err
	}
	n.run, err = s.findOrAdd(ctx, findRun, addRun, n.file, run.Name)
	return n, err
}

// findOrAdd returns the id of a table's row, adding the row if it is missing.
func (s *Store) findOrAdd(ctx context.Context, find, add string, key ...any) (int64, error) {
	var id int64
	err := s.pool.QueryRow(ctx, find, key...).Scan(&id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return id, err
	}
	if _, err := s.pool.Exec(ctx, add, key...); err != nil {
		return 0, err
	}
	err = s.pool.QueryRow(ctx, find, key...).Scan(&id)
	return id, err
}
