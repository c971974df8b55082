// Package metricsfile stores metric data in a data directory, as CloudWatch does on AWS: one JSON line per metric,
// labels and period, with a maximum number of lines. It only stores and reads data.
package metricsfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stepback/internal/atomicfile"
	"stepback/retrymetrics"
)

// Name is the name of the file in a data directory.
const Name = "metrics.jsonl"

// MaxLines is the maximum number of lines; the oldest are dropped first.
const MaxLines = 50_000

// Fine is the age up to which points keep their own periods; older ones are aggregated to minutes, as CloudWatch
// does.
const Fine = 3 * time.Hour

// head is the first line of a file that says up to when it is complete.
type head struct {
	// Counted is the time before which every event of an execution has been counted in the file.
	Counted time.Time `json:"countedBefore"`
}

// Read returns the points of a data directory, oldest first; none if nothing has been stored. If a line cannot be
// parsed, the error names it.
func Read(dir string) ([]retrymetrics.Point, error) {
	points, _, err := ReadCounted(dir)
	return points, err
}

// ReadCounted returns the points like Read, and the time before which they are complete: every event before it has
// been counted in them, but not every later one. The zero time means that they contain everything that was counted.
func ReadCounted(dir string) (points []retrymetrics.Point, counted time.Time, err error) {
	f, err := os.Open(filepath.Join(dir, Name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, counted, nil
	}
	if err != nil {
		return nil, counted, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if n == 1 && bytes.HasPrefix(lines.Bytes(), []byte(`{"countedBefore":`)) {
			var h head
			if err := json.Unmarshal(lines.Bytes(), &h); err == nil {
				counted = h.Counted
				continue
			}
		}
		var p retrymetrics.Point
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, counted, fmt.Errorf("%s, line %d: %w; delete the file to restart the metrics", f.Name(), n, err)
		}
		points = append(points, p)
	}
	if err := lines.Err(); err != nil {
		return nil, counted, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return points, counted, nil
}

// Add adds points to those of a data directory, and stores that all of them are complete before the time counted; see
// ReadCounted.
func Add(dir string, points []retrymetrics.Point, counted time.Time) error {
	kept, _, err := ReadCounted(dir)
	if err != nil {
		return err
	}
	all := slices.Concat(kept, points)
	if len(all) > 0 {
		all = compact(all)
	}
	return Write(dir, all[max(0, len(all)-MaxLines):], counted)
}

// BeforeRecount removes from points the values that can be counted again from the events of executions from a time on.
// The time must be the start of a period of every such value, and of a minute. The rest is complete before that time.
func BeforeRecount(points []retrymetrics.Point, from time.Time) []retrymetrics.Point {
	return slices.DeleteFunc(points, func(p retrymetrics.Point) bool {
		return p.Metric.Recounted() && !p.Start.Before(from)
	})
}

// Write replaces the points of a data directory, and stores that they are complete before the time counted; see
// ReadCounted. The file is replaced atomically, so it is never half written.
func Write(dir string, all []retrymetrics.Point, counted time.Time) error {
	err := atomicfile.WriteFrom(filepath.Join(dir, Name), 0o600, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		if !counted.IsZero() {
			if err := enc.Encode(head{counted}); err != nil {
				return err
			}
		}
		for _, p := range all {
			if err := enc.Encode(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("metric data: %w", err)
	}
	return nil
}

// compact merges points of the same metric, labels and period, and aggregates those older than Fine to minutes.
func compact(all []retrymetrics.Point) []retrymetrics.Point {
	all = retrymetrics.Merge(all)
	from := all[len(all)-1].Start.Add(-Fine).Truncate(time.Minute)
	n, _ := slices.BinarySearchFunc(all, from, func(p retrymetrics.Point,
		t time.Time) int {
		return p.Start.Compare(t)
	})
	return append(retrymetrics.Coarsen(all[:n], time.Minute), all[n:]...)
}
