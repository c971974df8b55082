package local

import (
	"context"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/internal/pebblestore"
	"stepback/local/services/inventory"
)

// openInventory opens the inventory of the files that services keep beside their documents.
func (p *Platform) openInventory(context.Context) error {
	p.files = inventory.Open(p.Documents, p.Dir)
	p.onClose(p.files.Close)
	return nil
}

// pebbleDirs are the folders of a data directory with Pebble stores, in the order in which they are opened.
var pebbleDirs = []string{journalDir, documentsDir, queuesDir, tablesDir}

// warnOfLosses logs the losses at the end of a store's log that no repair has acknowledged.
func (p *Platform) warnOfLosses(context.Context) error {
	for _, name := range pebbleDirs {
		dir := filepath.Join(p.Dir, name)
		losses, err := pebblestore.Losses(vfs.Default, dir)
		if err != nil {
			return err
		}
		for _, lost := range losses {
			p.cfg.Log.Warn("a store has lost its last acknowledged changes", "directory", dir, "error", lost)
		}
	}
	return nil
}
