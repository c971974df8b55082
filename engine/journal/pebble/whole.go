package pebble

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"stepback/internal/pebblestore"
)

// inspect refuses a store before it is opened for writing, so that it stays unchanged: another program's, one of a
// newer version, or one that has tables and no data.
func (j *Journal) inspect(db *pebble.DB, tables bool) error {
	looking := Journal{dir: j.dir, db: &pebblestore.Store{DB: db}}
	found, err := looking.version()
	if err == nil && found == 0 && tables {
		err = errors.New("its MANIFEST is truncated and lists none of its tables; nothing was changed: restore a backup of the directory")
	}
	return looking.withDir(err)
}

// withDir adds the journal's directory to an error.
func (j *Journal) withDir(err error) error {
	if err != nil {
		err = fmt.Errorf("journal in %s: %w", j.dir, damaged(err))
	}
	return err
}
