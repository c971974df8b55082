package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/journal"
)

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
