package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"stepback/csvimport"
	"stepback/csvimport/sample"
	"stepback/csvimport/sqlitestore"
	"stepback/pipeline"
)

// inFlight is how many records the plain loop has on their way into the store at once: as many as the pipeline's 16
// child executions of up to 40 iterations, so that both fill the store's transactions alike.
const inFlight = 16 * 40

// csvJob measures a CSV import end to end against a plain Go loop that reads, checks and upserts the same rows into the
// same store, in the same transactions.
func csvJob(rows int) measurement {
	return measurement{
		name: "CSV job, " + thousands(rows) + " rows, batch 100, SQLite, end to end", unit: "s",
		target: csvTarget(rows),
		measure: func(ctx context.Context, dir string) (reading, error) {
			file, err := sampleFile(dir, rows)
			if err != nil {
				return reading{}, err
			}
			floor, err := costOf(func() error { return plainLoop(ctx, file, filepath.Join(dir, "plain.db")) })
			if err != nil {
				return reading{}, err
			}
			whole, err := costOf(func() error { return importFile(ctx, file, filepath.Join(dir, "data"), rows) })
			return reading{whole.wall, floor.wall, whole.processor, floor.processor}, err
		},
	}
}

// csvTarget is what a job of a million rows should reach.
func csvTarget(rows int) string {
	if rows < 1_000_000 {
		return "for scale"
	}
	return "≤ 2.5 × the plain loop"
}

func sampleFile(dir string, rows int) (string, error) {
	file := filepath.Join(dir, "activity.csv")
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	return file, errors.Join(sample.Write(f, sample.Options{Rows: rows, Seed: 1}), f.Close())
}

// importFile is what stepback run does, from opening the data directory to closing it.
func importFile(ctx context.Context, file, data string, rows int) error {
	p, err := pipeline.Open(ctx, pipeline.Config{Dir: data})
	if err != nil {
		return err
	}
	report, err := p.Import(ctx, file, false, nil)
	if err = errors.Join(err, p.Close()); err != nil {
		return err
	}
	if report.Rows == nil || report.Rows.Applied != int64(rows) {
		return fmt.Errorf("the run ended %s with rows %+v: %s %s", report.Status, report.Rows, report.Error,
			report.Cause)
	}
	return nil
}

type plainRow struct {
	row int64
	inc csvimport.Increment
}

// plainLoop is the floor: one reader, as many callers of the store as the pipeline has, nothing else.
func plainLoop(ctx context.Context, file, database string) (err error) {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	store, err := sqlitestore.Open(ctx, database, sqlitestore.Full)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	run := csvimport.Run{File: csvimport.Source{Bucket: "csv-input", Key: "activity.csv", ETag: "plain"}, Name: "plain"}
	rows := make(chan plainRow, inFlight)
	failed := make(chan error, inFlight)
	var callers sync.WaitGroup
	for range inFlight {
		callers.Go(func() {
			for r := range rows {
				if _, err := store.Apply(ctx, run, r.row, r.inc); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	err = readRows(f, rows, failed)
	close(rows)
	callers.Wait()
	return err
}

func readRows(f io.Reader, rows chan<- plainRow, failed <-chan error) error {
	in := csv.NewReader(f)
	in.ReuseRecord = true
	if _, err := in.Read(); err != nil {
		return err
	}
	for i := int64(0); ; i++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		inc, problems := csvimport.ParseFields(record[0], record[1], record[2])
		if len(problems) > 0 {
			return errors.New(csvimport.JoinProblems(problems))
		}
		select {
		case rows <- plainRow{i, inc}:
		case err := <-failed:
			return err
		}
	}
}
