// Package metricsfile keeps metric data in a data directory, where CloudWatch keeps them on AWS: one JSON line per
// metric, labels and period, bounded. It stores and reads; it counts nothing.
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

// Name is the file's name in a data directory.
const Name = "metrics.jsonl"

// MaxLines is how many lines are kept; the oldest go first.
const MaxLines = 50_000

// Fine is how long points keep their own periods; older ones are added up to minutes, as CloudWatch does it.
const Fine = 3 * time.Hour

// Read returns the points of a data directory, oldest first; none when nothing has been kept. A line that cannot be
// read is an error that names it.
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
			return nil, fmt.Errorf("%s, line %d: %w; delete the file to start metrics anew", f.Name(), n, err)
		}
		points = append(points, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return points, nil
}

// Add puts points to those of a data directory. The file is replaced as a whole, so that it is never half written.
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

// compact adds up what belongs together, and to minutes what is older than Fine.
func compact(all []retrymetrics.Point) []retrymetrics.Point {
	all = retrymetrics.Merge(all)
	from := all[len(all)-1].Start.Add(-Fine).Truncate(time.Minute)
	n, _ := slices.BinarySearchFunc(all, from, func(p retrymetrics.Point,
		t time.Time) int {
		return p.Start.Compare(t)
	})
	return append(retrymetrics.Coarsen(all[:n], time.Minute), all[n:]...)
}
