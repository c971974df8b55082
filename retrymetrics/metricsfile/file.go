// Package metricsfile stores metric data in a data directory, as CloudWatch does on AWS: one JSON line per metric,
// labels and period, with a maximum number of lines. It only stores and reads data.
package metricsfile

import (
	"bufio"
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

// Read returns the points of a data directory, oldest first; none if nothing has been stored. If a line cannot be
// parsed, the error names it.
func Read(dir string) ([]retrymetrics.Point, error) {
	f, err := os.Open(filepath.Join(dir, Name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var points []retrymetrics.Point
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var p retrymetrics.Point
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w; delete the file to restart the metrics", f.Name(), n, err)
		}
		points = append(points, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return points, nil
}

// Add adds points to those of a data directory. The file is replaced atomically, so it is never half written.
func Add(dir string, points []retrymetrics.Point) error {
	if len(points) == 0 {
		return nil
	}
	kept, err := Read(dir)
	if err != nil {
		return err
	}
	all := compact(append(kept, points...))
	all = all[max(0, len(all)-MaxLines):]
	err = atomicfile.WriteFrom(filepath.Join(dir, Name), 0o600, func(w io.Writer) error {
		enc := json.NewEncoder(w)
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
