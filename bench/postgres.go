package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
	"stepback/csvimport/pipeline"
)

// postgresVariable names the environment variable with the connection string of a server to measure against; its user
// must be allowed to create databases. Without it, this measurement is skipped.
const postgresVariable = "STEPBACK_TEST_POSTGRES"

// copiedPerMerge is the number of rows that the floor merges at once.
const copiedPerMerge = 10_000

// csvJobOverCopy measures the CSV import into PostgreSQL against COPY into a staging table and one merge per batch,
// which does not record which rows it has applied.
func csvJobOverCopy(rows int) measurement {
	return measurement{
		name: "CSV job, " + thousands(rows) + " rows, PostgreSQL over loopback", unit: "s",
		target: "≤ 1.5 × COPY and a merge per 10,000",
		measure: func(ctx context.Context, dir string) (reading, error) {
			file, err := sampleFile(dir, rows)
			if err != nil {
				return reading{}, err
			}
			server := os.Getenv(postgresVariable)
			floor, err := onDatabase(ctx, server, "bench_floor", func(address string) error {
				return copyLoop(ctx, file, address)
			})
			if err != nil {
				return reading{}, err
			}
			whole, err := onDatabase(ctx, server, "bench_import", func(address string) error {
				return importInto(ctx, pipeline.Config{Dir: filepath.Join(dir, "data"), Database: address}, file, rows)
			})
			return reading{whole.wall, floor.wall, whole.processor, floor.processor}, err
		},
	}
}

// onDatabase measures work on a database created for it.
func onDatabase(ctx context.Context, server, name string, work func(address string) error) (c cost, err error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return c, err
		}
	}
	address := *conn.Config()
	c, err = costOf(func() error {
		return work(fmt.Sprintf("postgres://%s:%s@%s:%d/%s?sslmode=disable", address.User, address.Password, address.Host,
			address.Port, name))
	})
	_, dropped := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	return c, errors.Join(err, dropped)
}

// copyLoop reads, checks, copies and merges on one connection.
func copyLoop(ctx context.Context, file, address string) (err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, `CREATE TABLE users (user_id text COLLATE "C" PRIMARY KEY, login_count bigint NOT NULL,
		post_count bigint NOT NULL); CREATE TEMPORARY TABLE staging (user_id text, login_count bigint, post_count bigint)`,
	); err != nil {
		return err
	}
	var batch [][]any
	flush := func() error {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{"staging"}, []string{"user_id", "login_count", "post_count"},
				pgx.CopyFromRows(batch)); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `INSERT INTO users AS u SELECT user_id, sum(login_count), sum(post_count) FROM staging
				GROUP BY user_id ON CONFLICT (user_id) DO UPDATE SET login_count = u.login_count + excluded.login_count,
				post_count = u.post_count + excluded.post_count`); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "TRUNCATE staging")
			return err
		})
		batch = batch[:0]
		return err
	}
	err = readRows(file, func(r csvimport.Row) error {
		batch = append(batch, []any{r.Increment.UserID, r.Increment.LoginCount, r.Increment.PostCount})
		if len(batch) < copiedPerMerge {
			return nil
		}
		return flush()
	})
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	return err
}
