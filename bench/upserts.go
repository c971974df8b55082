package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"stepback/csvimport"
)

// upsertsPerTransaction is the number of rows that the loop without guarantees commits at once.
const upsertsPerTransaction = 10_000

// csvJobOverUpserts measures the CSV import against a loop that only upserts. The loop does not record which rows it
// has applied, so it can be neither repeated nor resumed.
func csvJobOverUpserts(rows int) measurement {
	return measurement{
		name: "CSV job, " + thousands(rows) + " rows, against upserts alone", unit: "s",
		target: "≤ 4 × upserts in transactions of 10,000",
		measure: func(ctx context.Context, dir string) (reading, error) {
			file, err := sampleFile(dir, rows)
			if err != nil {
				return reading{}, err
			}
			floor, err := costOf(func() error { return upsertLoop(ctx, file, filepath.Join(dir, "upserts.db")) })
			if err != nil {
				return reading{}, err
			}
			whole, err := costOf(func() error { return importFile(ctx, file, filepath.Join(dir, "data"), rows) })
			return reading{whole.wall, floor.wall, whole.processor, floor.processor}, err
		},
	}
}

// upsertLoop reads, checks and upserts, talking to the driver directly.
func upsertLoop(ctx context.Context, file, database string) (err error) {
	const table = `CREATE TABLE users (user_id TEXT PRIMARY KEY, login_count INTEGER NOT NULL, post_count INTEGER NOT NULL)
		WITHOUT ROWID`
	db, err := sql.Open("sqlite", "file:"+database+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cache_size(-12288)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, table); err != nil {
		return err
	}
	return conn.Raw(func(raw any) error {
		c, ok := raw.(driver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("the driver's connection is a %T", raw)
		}
		return upsertAll(ctx, c, file)
	})
}

func upsertAll(ctx context.Context, conn driver.ConnPrepareContext, file string) error {
	var stmts []driver.StmtExecContext
	for _, text := range []string{"BEGIN IMMEDIATE", "COMMIT", `INSERT INTO users VALUES (?, ?, ?) ON CONFLICT (user_id)
		DO UPDATE SET login_count = login_count + excluded.login_count, post_count = post_count + excluded.post_count`} {
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		defer stmt.Close()
		exec, ok := stmt.(driver.StmtExecContext)
		if !ok {
			return fmt.Errorf("the driver's statement is a %T", stmt)
		}
		stmts = append(stmts, exec)
	}
	begin, commit, upsert := stmts[0], stmts[1], stmts[2]
	background := context.Background()
	args := []driver.NamedValue{{Ordinal: 1}, {Ordinal: 2}, {Ordinal: 3}}
	n := 0
	err := readRows(file, func(r csvimport.Row) error {
		if n%upsertsPerTransaction == 0 {
			if n > 0 {
				if _, err := commit.ExecContext(background, nil); err != nil {
					return err
				}
			}
			if _, err := begin.ExecContext(background, nil); err != nil {
				return err
			}
		}
		n++
		args[0].Value, args[1].Value, args[2].Value = r.Increment.UserID, r.Increment.LoginCount, r.Increment.PostCount
		_, err := upsert.ExecContext(ctx, args)
		return err
	})
	if err == nil && n > 0 {
		_, err = commit.ExecContext(ctx, nil)
	}
	return err
}
