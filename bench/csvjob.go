package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"stepback/csvimport"
	"stepback/csvimport/pipeline"
	"stepback/csvimport/sample"
	"stepback/csvimport/sqlitestore"
)

// The plain loop uses the pipeline's batch size, and as many concurrent batches as the pipeline has child executions.
const (
	batchRows = 250
	inFlight  = 80
)

// csvJob measures a CSV import end to end against a plain Go loop that reads, checks and upserts the same rows into
// the same store, in the same transactions.
func csvJob(rows int) measurement {
	return measurement{
		name: "CSV job, " + thousands(rows) + " rows, in bulk, SQLite, end to end", unit: "s",
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

// csvTarget returns the target of the measurement, which is stricter from a million rows on.
func csvTarget(rows int) string {
	if rows < 1_000_000 {
		return "≤ 1.5 × the plain loop"
	}
	return "≤ 1.25 × the plain loop"
}

func sampleFile(dir string, rows int) (string, error) {
	file := filepath.Join(dir, "activity.csv")
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	return file, errors.Join(sample.Write(f, sample.Options{Rows: rows, Seed: 1}), f.Close())
}

// importFile does the work of stepback run, from opening the data directory to closing it.
func importFile(ctx context.Context, file, data string, rows int) error {
	return importInto(ctx, pipeline.Config{Dir: data}, file, rows)
}

// importInto imports a file of which every row can be applied.
func importInto(ctx context.Context, cfg pipeline.Config, file string, rows int) error {
	p, err := pipeline.Open(ctx, cfg)
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

// plainLoop imports the file with the same guarantees, as the floor of the measurement. It has one reader, as many
// concurrent callers of the store as the pipeline, the same batch size, and nothing else.
func plainLoop(ctx context.Context, file, database string) (err error) {
	store, err := sqlitestore.Open(ctx, database, sqlitestore.Full)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	run := csvimport.Run{File: csvimport.Source{Bucket: "csv-input", Key: "activity.csv", ETag: "plain"}, Name: "plain"}
	batches := make(chan []csvimport.Row, inFlight)
	failed := make(chan error, inFlight)
	var callers sync.WaitGroup
	for range inFlight {
		callers.Go(func() {
			for b := range batches {
				answers, err := store.ApplyBatch(ctx, run, b)
				for _, a := range answers {
					err = errors.Join(err, a.Err)
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	var batch []csvimport.Row
	give := func() error {
		select {
		case batches <- batch:
			batch = nil
			return nil
		case err := <-failed:
			return err
		}
	}
	err = readRows(file, func(r csvimport.Row) error {
		if batch = append(batch, r); len(batch) == batchRows {
			return give()
		}
		return nil
	})
	if err == nil && len(batch) > 0 {
		err = give()
	}
	close(batches)
	callers.Wait()
	select {
	case e := <-failed:
		err = errors.Join(err, e)
	default:
	}
	return err
}

// readRows reads and checks a file.
func readRows(file string, take func(csvimport.Row) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
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
		inc.UserID = strings.Clone(inc.UserID)
		if err := take(csvimport.Row{Number: i, Increment: inc}); err != nil {
			return err
		}
	}
}
