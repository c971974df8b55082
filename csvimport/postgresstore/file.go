package postgresstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
)

// maxFiles bounds the numbers that are remembered.
const maxFiles = 1024

// fileID is the number of a file, given on first use in a transaction of its own:
// a number without rows does no harm.
func (s *Store) fileID(ctx context.Context, file csvimport.Source) (int64, error) {
	s.mu.Lock()
	id, ok := s.files[file]
	s.mu.Unlock()
	if ok {
		return id, nil
	}
	id, err := s.findOrAddFile(ctx, file)
	if err != nil {
		return 0, failure("register the file", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.files) >= maxFiles {
		clear(s.files)
	}
	s.files[file] = id
	return id, nil
}

func (s *Store) findOrAddFile(ctx context.Context, file csvimport.Source) (int64, error) {
	const find = "SELECT id FROM import_files WHERE bucket = $1 AND key = $2 AND etag = $3"
	var id int64
	err := s.pool.QueryRow(ctx, find, file.Bucket, file.Key, file.ETag).Scan(&id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return id, err
	}
	const add = "INSERT INTO import_files (bucket, key, etag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
	if _, err := s.pool.Exec(ctx, add, file.Bucket, file.Key, file.ETag); err != nil {
		return 0, err
	}
	return id, s.pool.QueryRow(ctx, find, file.Bucket, file.Key, file.ETag).Scan(&id)
}
