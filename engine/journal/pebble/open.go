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

// openStore opens Pebble's store. On opening, Pebble writes the content of its log into tables, and if the disk
// refuses that, it retries for ever. openStore gives up in that case; if Pebble finishes later, the store is closed.
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
			<-time.NewTimer(spaceInterval).C // otherwise Pebble would retry at once
		},
		DataCorruption: func(pebble.DataCorruptionInfo) {}, // reads return the error; by default the process would exit
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
				_ = s.db.Close() // it has not been used
			}
		}()
		return nil, err
	}
}

// openError returns an error that explains why a store could not be opened and what to do.
func openError(dir string, readOnly bool, err error) error {
	hint := ""
	switch {
	case strings.Contains(err.Error(), "lock held by current process"):
		hint = " (is another stepback using this data directory? this process itself has it open)"
	case errors.Is(err, syscall.EAGAIN):
		hint = " (is another stepback using this data directory?)"
	case readOnly && errors.Is(err, fs.ErrPermission):
		hint = " (stepback needs read access)"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		hint = " (stepback needs write access)"
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		return fmt.Errorf("there is no journal in %s", dir)
	case errors.Is(err, journal.ErrDiskFull):
	default:
		hint = " (if its files are missing, damaged or those of another program: restore a backup, recover intact records with" +
			" stepback data repair, or move the directory away to start a new journal; users and objects are stored beside it)"
	}
	return fmt.Errorf("opening the journal in %s: %w%s", dir, err, hint)
}
