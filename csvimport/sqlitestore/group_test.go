package sqlitestore

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"stepback/csvimport"
	"stepback/retry"
)

// brokenTask fails like a statement that the database refuses.
type brokenTask struct {
	err  error
	done chan struct{}
}

func (t *brokenTask) apply(w *writer) error {
	_, err := w.change(w.stmts.putBlock, int64(1), nil, nil) // block must not be NULL
	return err
}

func (*brokenTask) size() int { return 1 }

func (t *brokenTask) answer(err error) {
	t.err = failure("test", err)
	close(t.done)
}

func single(run csvimport.Run, row int64, inc csvimport.Increment) *applyTask {
	return &applyTask{run: run, rows: []csvimport.Row{{Number: row, Increment: inc}},
		answers: make([]csvimport.Answer, 1), done: make(chan struct{})}
}

func TestGroupWithOneBrokenTask(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	s, err := Open(t.Context(), path, Full)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := newWriter(t.Context(), s.db, path, Full)
	if err != nil {
		t.Fatal(err)
	}
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
	var good []*applyTask
	group := []task{}
	for row := range int64(3) {
		g := single(run, row, csvimport.Increment{UserID: "u", LoginCount: 1})
		good = append(good, g)
		group = append(group, g)
	}
	broken := &brokenTask{done: make(chan struct{})}
	group = append(group[:1], append([]task{broken}, group[1:]...)...)
	w.commitGroup(group)
	if err := w.close(); err != nil {
		t.Error(err)
	}
	for _, g := range good {
		if g.err != nil || g.answers[0].Outcome != csvimport.Applied {
			t.Errorf("row %d: %s, %v; want applied", g.rows[0].Number, g.answers, g.err)
		}
	}
	var f *csvimport.Failure
	if !errors.As(broken.err, &f) || f.Name != retry.DatabaseConstraintViolation {
		t.Errorf("the broken task got %v, want DatabaseConstraintViolation", broken.err)
	}
}

// TestDiskFull lets the database file reach a size limit, which SQLite reports as a full disk: the records that no
// longer fit fail permanently, the others are kept.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	s, err := Open(t.Context(), path, Full)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := newWriter(t.Context(), s.db, path, Full)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := w.conn.(driver.ConnPrepareContext).PrepareContext(t.Context(), "PRAGMA max_page_count = 16")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.find(make([]driver.Value, 1), limit.(driver.StmtQueryContext)); err != nil {
		t.Fatal(err)
	}
	applied := int64(0)
	for row := int64(0); ; row++ {
		late := single(csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}, row,
			csvimport.Increment{UserID: fmt.Sprintf("user %0200d", row), LoginCount: 1})
		w.commitGroup([]task{late})
		if late.err == nil {
			applied++
			continue
		}
		var f *csvimport.Failure
		if !errors.As(late.err, &f) || f.Name != retry.StorageError {
			t.Errorf("error is %v, want StorageError", late.err)
		}
		break
	}
	if err := errors.Join(limit.Close(), w.close()); err != nil {
		t.Error(err)
	}
	var users int64
	if err := s.Export(t.Context(), func(csvimport.User) error { users++; return nil }); err != nil ||
		users != applied || applied == 0 {
		t.Errorf("%d users, %v; %d records were answered as applied", users, err, applied)
	}
}
