package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/journal"
)

// openStore opens Pebble's store. What Pebble finds in its log it writes into tables, and when the disk refuses that,
// it tries for ever; then this gives up, and the store is closed if that comes to an end after all.
func openStore(dir string, o *pebble.Options) (*pebble.DB, error) {
	type outcome struct {
		db  *pebble.DB
		err error
	}
	refused, opened := make(chan error, 1), make(chan outcome, 1)
	o.EventListener = &pebble.EventListener{
		BackgroundError: func(err error) {
			select {
			case refused <- err:
			default:
			}
			<-time.NewTimer(spaceInterval).C // Pebble would try again at once
		},
		DataCorruption: func(pebble.DataCorruptionInfo) {}, // whoever reads is told; by default the process ends
	}
	go func() {
		db, err := pebble.Open(dir, o)
		opened <- outcome{db, err}
	}()
	select {
	case s := <-opened:
		return s.db, s.err
	case err := <-refused:
		go func() {
			if s := <-opened; s.err == nil {
				_ = s.db.Close() // nobody has used it
			}
		}()
		return nil, err
	}
}

// openError says why a store could not be opened and what to do.
func openError(dir string, readOnly bool, err error) error {
	hint := ""
	switch {
	case strings.Contains(err.Error(), "lock held by current process"):
		hint = " (is another stepback using this data directory? this process itself has it open)"
	case errors.Is(err, syscall.EAGAIN):
		hint = " (is another stepback using this data directory?)"
	case readOnly && errors.Is(err, fs.ErrPermission):
		hint = " (stepback has to be able to read it)"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		hint = " (stepback has to be able to write there)"
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		return fmt.Errorf("there is no journal in %s", dir)
	case errors.Is(err, journal.ErrDiskFull):
	default:
		hint = " (if its files are missing, damaged or those of another program: put a copy back; stepback data repair saves" +
			" what is whole; or move the directory away to begin a new journal; users and objects are kept beside it)"
	}
	return fmt.Errorf("opening the journal in %s: %w%s", dir, err, hint)
}
