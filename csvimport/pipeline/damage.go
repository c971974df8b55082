package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stepback/csvimport/sqlitestore"
	"stepback/local/services/inventory"
)

// CheckData reads the import's database and the reports in a data directory that no process has open, and calls problem
// for each damaged file.
func CheckData(ctx context.Context, dir string, problem func(error)) error {
	if err := sqlitestore.Check(ctx, databaseFile(dir)); err != nil {
		problem(err)
	}
	reports, err := filepath.Glob(filepath.Join(dir, "reports", "*.json"))
	if err != nil {
		return err
	}
	for _, path := range reports {
		if _, err := readReport(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problem(err)
		}
	}
	return ctx.Err()
}

// RepairData removes damaged reports from a data directory, which are built again from the journal when they are asked
// for, and cuts a damaged write-ahead log of the database after its last intact transaction. It calls tell for each
// loss, and for a damaged database, which it cannot repair.
func RepairData(ctx context.Context, dir string, tell func(error)) error {
	lost, err := sqlitestore.RepairLog(databaseFile(dir), time.Now())
	if err != nil {
		return err
	}
	if lost != nil {
		tell(lost)
	}
	var damaged []error
	if err := CheckData(ctx, dir, func(err error) { damaged = append(damaged, err) }); err != nil {
		return err
	}
	for _, problem := range damaged {
		var report *inventory.DamagedError
		if errors.As(problem, &report) {
			tell(fmt.Errorf("%s was damaged: %s; nothing is lost: it is built again from the journal", report.Path, report.Why))
			if err := os.Remove(report.Path); err != nil {
				return err
			}
			continue
		}
		tell(problem)
	}
	return nil
}

func databaseFile(dir string) string { return filepath.Join(dir, "users.db") }

// readReport reads a stored report.
func readReport(path string) (*Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	object, _, err := inventory.Verify(path, text, inventory.Entry{}, false)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(object, r); err != nil {
		return nil, &inventory.DamagedError{Path: path, Why: err.Error()}
	}
	return r, nil
}
