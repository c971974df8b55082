package postgresstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
	"stepback/csvimport/postgresstore"
	"stepback/csvimport/postgresstore/postgrestest"
)

// The load of BenchmarkCapacity: what the deployed functions do. Each has a connection of its own and applies one batch
// at a time, in one transaction; a user has four rows.
const (
	capacityRows      = 500_000
	capacityBatch     = 250
	capacityFunctions = 16
	capacityUsers     = capacityRows / 4
)

// BenchmarkCapacity measures what a row costs the database, for docs/aws.md: rows in a second of the server's processor
// time, bytes of its log, commits, and the share of blocks that were found in memory. The figures come from
// pg_stat_wal, pg_stat_database and the processes of the server. It needs the server's own data directory and Linux.
func BenchmarkCapacity(b *testing.B) {
	server := postgrestest.Start(b)
	for b.Loop() {
		url := server.Database(b)
		stores := make([]*postgresstore.Store, capacityFunctions)
		for i := range stores {
			s, err := postgresstore.Open(b.Context(), url)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := s.Close(); err != nil {
					b.Error(err)
				}
			})
			stores[i] = s
		}
		before := observed(b, url)
		began := time.Now()
		apply(b, stores)
		took := time.Since(began)
		after := observed(b, url)
		processor := after.processor - before.processor
		per := func(n float64) float64 { return n / capacityRows }
		b.ReportMetric(capacityRows/took.Seconds(), "rows/s")
		b.ReportMetric(capacityRows/processor.Seconds(), "rows/cpu-s")
		b.ReportMetric(per(after.logBytes-before.logBytes), "log-B/row")
		b.ReportMetric(per(after.commits-before.commits), "commits/row")
		b.ReportMetric(per(after.inserted-before.inserted), "inserts/row")
		b.ReportMetric(per(after.updated-before.updated), "updates/row")
		hit, read := after.hit-before.hit, after.read-before.read
		b.ReportMetric(per(hit+read), "blocks/row")
		b.ReportMetric(100*hit/(hit+read), "%hit")
	}
}

// apply applies all rows, with one goroutine for each store.
func apply(b *testing.B, stores []*postgresstore.Store) {
	b.Helper()
	run := csvimport.Run{File: csvimport.Source{Bucket: "in", Key: "capacity.csv", ETag: "1"}, Name: "capacity"}
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make([]error, len(stores))
	for i, s := range stores {
		group.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			for {
				first := next.Add(capacityBatch) - capacityBatch
				if first >= capacityRows {
					return
				}
				rows := make([]csvimport.Row, capacityBatch)
				for k := range rows {
					rows[k] = csvimport.Row{Number: first + int64(k), Increment: csvimport.Increment{
						UserID: "user-" + strconv.Itoa(rnd.IntN(capacityUsers)), LoginCount: 1, PostCount: 2}}
				}
				answers, err := s.ApplyBatch(b.Context(), run, rows)
				for _, a := range answers {
					err = errors.Join(err, a.Err)
				}
				if err != nil {
					failures[i] = err
					return
				}
			}
		})
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		b.Fatal(err)
	}
}

// observation holds the counters of a server.
type observation struct {
	processor                                       time.Duration
	logBytes, commits, inserted, updated, hit, read float64
}

func observed(b *testing.B, url string) (o observation) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(b.Context())) }()
	if _, err := conn.Exec(b.Context(), "SELECT pg_stat_clear_snapshot()"); err != nil {
		b.Fatal(err)
	}
	var dir string
	err = errors.Join(
		conn.QueryRow(b.Context(), "SELECT wal_bytes::float8 FROM pg_stat_wal").Scan(&o.logBytes),
		conn.QueryRow(b.Context(), `SELECT xact_commit::float8, tup_inserted::float8, tup_updated::float8, blks_hit::float8,
			blks_read::float8 FROM pg_stat_database WHERE datname = current_database()`).
			Scan(&o.commits, &o.inserted, &o.updated, &o.hit, &o.read),
		conn.QueryRow(b.Context(), "SHOW data_directory").Scan(&dir))
	if err == nil {
		o.processor, err = processorTime(dir)
	}
	if err != nil {
		b.Skip(err)
	}
	return o
}

// processorTime returns the processor time of a server's processes, including those that have ended.
func processorTime(dir string) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	postmaster, _, _ := strings.Cut(string(text), "\n")
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no processes in /proc: %w", err)
	}
	const ticks = 100 // per second, on Linux
	var sum int64
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // after the name, which may contain spaces
		fields := strings.Fields(rest)
		const parent, userTime, systemTime, childrenUser, childrenSystem = 1, 11, 12, 13, 14
		if len(fields) <= childrenSystem {
			continue
		}
		own := filepath.Base(filepath.Dir(file)) == postmaster
		if !own && fields[parent] != postmaster {
			continue
		}
		counted := []int{userTime, systemTime}
		if own {
			counted = append(counted, childrenUser, childrenSystem)
		}
		for _, i := range counted {
			n, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return time.Duration(sum) * time.Second / ticks, nil
}
