package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/adaptive/configuration"
	"stepback/adaptive/controller"
	"stepback/engine/journal/pebble"
	"stepback/internal/pebblestore"
	"stepback/local/services/documents"
	"stepback/local/services/inventory"
	"stepback/local/services/kms"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/logs/logstore"
	"stepback/local/services/s3"
	"stepback/local/services/sns"
	"stepback/retrymetrics/metricsfile"
)

// Checked counts what CheckData has read.
type Checked struct {
	Journal pebble.Checked
	// Keys is the number of keys in the Pebble stores besides the journal, by the folder of the store.
	Keys map[string]int
}

// databases are the folders of a data directory with stores of package documents. The last one is used by functions
// without a platform.
var databases = []string{documentsDir, queuesDir, tablesDir, filepath.Join(functionsDir, "events")}

// CheckData reads everything in a data directory that no process has open, and calls problem for each defect: damaged,
// cut and missing files, lost ends of logs, inconsistent executions. It changes nothing. The error is that of ctx, or
// says that the directory or the journal cannot be read; everything else is checked nevertheless.
func CheckData(ctx context.Context, dir string, problem func(error)) (Checked, error) {
	found := Checked{Keys: map[string]int{}}
	if err := hasData(dir); err != nil {
		return found, err
	}
	problem = once(problem)
	journalErr := checkJournal(ctx, filepath.Join(dir, journalDir), &found, problem)
	for _, name := range databases {
		store, err := documents.View(filepath.Join(dir, name))
		if err != nil {
			problem(err)
			continue
		}
		found.Keys[name], err = store.Check(ctx, problem)
		if err == nil && name == documentsDir {
			checkFiles(dir, store, inventory.View(store, dir), problem)
		}
		_ = store.Close() // it was only read
		if err != nil {
			return found, err
		}
	}
	return found, cmp.Or(ctx.Err(), journalErr)
}

// once returns a function that passes each problem on once: a file may be read in several ways.
func once(problem func(error)) func(error) {
	said := map[string]bool{}
	return func(err error) {
		if text := err.Error(); !said[text] {
			said[text] = true
			problem(err)
		}
	}
}

// hasData returns an error if a directory is not a data directory.
func hasData(dir string) error {
	for _, name := range append([]string{journalDir, objectsDir}, databases...) {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("there is no journal in %s; name the data directory of a run with --data", dir)
}

// checkJournal checks the journal. The error says why it cannot be opened, or not be read to its end.
func checkJournal(ctx context.Context, dir string, found *Checked, problem func(error)) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no journal in %s; restore a backup of the data directory", filepath.Dir(dir))
	}
	j, err := pebble.Open(dir, pebble.Config{ReadOnly: true, MustExist: true})
	if err != nil {
		return err
	}
	found.Journal, err = j.Check(ctx, func(err error) { problem(fmt.Errorf("journal in %s: %w", dir, err)) })
	_ = j.Close() // it was only read
	if err != nil {
		err = fmt.Errorf("journal in %s: %w", dir, err)
	}
	return err
}

// CheckData reads everything in the data directory as the function CheckData does, while the platform uses it.
func (p *Platform) CheckData(ctx context.Context, problem func(error)) (Checked, error) {
	found := Checked{Keys: map[string]int{}}
	if j, ok := p.Journal.(*pebble.Journal); ok {
		var err error
		dir := filepath.Join(p.Dir, journalDir)
		found.Journal, err = j.Check(ctx, func(err error) { problem(fmt.Errorf("journal in %s: %w", dir, err)) })
		if err != nil {
			return found, err
		}
	}
	for name, store := range map[string]interface {
		Check(ctx context.Context, problem func(error)) (int, error)
	}{documentsDir: p.Documents, queuesDir: p.Queues, tablesDir: p.Tables} {
		var err error
		if found.Keys[name], err = store.Check(ctx, problem); err != nil {
			return found, err
		}
	}
	checkFiles(p.Dir, p.Documents, p.files, once(problem))
	return found, ctx.Err()
}

// checkFiles reads the files that services keep beside their documents.
func checkFiles(dir string, store *documents.Store, files *inventory.Files, problem func(error)) {
	_, readErr := metricsfile.Read(dir)
	for _, err := range []error{
		s3.Check(filepath.Join(dir, objectsDir), files, problem),
		functions.Check(filepath.Join(dir, functionsDir), files, problem),
		logstore.Check(filepath.Join(dir, logsDir, "groups"), files, problem),
		kms.Check(filepath.Join(dir, "kms"), store, time.Now(), problem),
		checkAdaptive(dir, problem),
		readErr,
	} {
		if err != nil {
			problem(err)
		}
	}
	for _, name := range ownFiles {
		if err := files.Verify(filepath.Join(dir, name)); err != nil {
			problem(err)
		}
	}
}

// checkAdaptive reads what `stepback adapt` keeps in a data directory: the controller's rows and the configurations of
// functions.
func checkAdaptive(dir string, problem func(error)) error {
	return errors.Join(
		(&controller.FileRows{Directory: dir}).Check(problem),
		configuration.Files{Directory: dir}.Check(problem),
	)
}

// ownFiles are the files in a data directory itself.
var ownFiles = []string{metricsfile.Name, sns.FileName, sns.OldFileName}

// Repaired reports what RepairData has saved.
type Repaired struct {
	// Journal reports what the journal's repair saved; it is nil if there is no journal. An intact journal is rebuilt,
	// too, because only that shows whether executions are complete.
	Journal *pebble.Repaired
	// Stores reports what the repairs of other Pebble stores saved, by folder.
	Stores map[string]pebblestore.Repaired
	// Aside is the directory that damaged files were moved to; empty if there were none.
	Aside string
}

// RepairData brings a damaged data directory, which no process may have open, back to a state that opens. It rebuilds
// damaged Pebble stores from what can be read, moves damaged files aside, and calls tell for each loss. Intact stores
// and files are not changed, and nothing is deleted.
func RepairData(ctx context.Context, dir string, tell func(error)) (done Repaired, err error) {
	done.Stores = map[string]pebblestore.Repaired{}
	if err := hasData(dir); err != nil {
		return done, err
	}
	if _, err := os.Stat(filepath.Join(dir, lockFile)); err == nil { // otherwise no platform has used the directory
		lock, err := vfs.Default.Lock(filepath.Join(dir, lockFile))
		if err != nil {
			server, _ := readServer(dir)
			return done, &InUseError{dir, server}
		}
		defer lock.Close()
	}
	if err := repairJournal(ctx, filepath.Join(dir, journalDir), &done, tell); err != nil {
		return done, err
	}
	for _, name := range databases {
		path := filepath.Join(dir, name)
		damaged := false
		if store, err := documents.View(path); err != nil {
			damaged = true
		} else {
			_, err = store.Check(ctx, func(error) { damaged = true })
			if err = errors.Join(err, store.Close()); err != nil && !damaged {
				return done, err
			}
		}
		if !damaged {
			continue
		}
		if done.Stores[name], err = documents.Repair(ctx, path, tell); err != nil {
			return done, err
		}
	}
	return done, repairFiles(dir, &done, tell)
}

func repairJournal(ctx context.Context, dir string, done *Repaired, tell func(error)) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	found, err := pebble.Repair(ctx, dir, tell)
	done.Journal = &found
	return err
}

// repairFiles repairs the files that services keep beside their documents.
func repairFiles(dir string, done *Repaired, tell func(error)) (err error) {
	store, err := documents.Open(filepath.Join(dir, documentsDir), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	files := inventory.Open(store, dir)
	defer func() { err = errors.Join(err, files.Close()) }()
	aside := filepath.Join(dir, time.Now().UTC().Format("damaged-20060102T150405.000000Z"))
	err = errors.Join(
		s3.Repair(filepath.Join(dir, objectsDir), files, aside, tell),
		functions.Repair(filepath.Join(dir, functionsDir), files, aside, tell),
		logstore.Repair(filepath.Join(dir, logsDir, "groups"), files, aside, tell),
		kms.Repair(filepath.Join(dir, "kms"), store, files, aside, time.Now(), tell),
	)
	if err != nil {
		return err
	}
	var damaged []error
	for _, name := range ownFiles {
		if err := files.Verify(filepath.Join(dir, name)); err != nil {
			damaged = append(damaged, err)
		}
	}
	if _, err := metricsfile.Read(dir); err != nil {
		damaged = append(damaged, &inventory.DamagedError{Path: filepath.Join(dir, metricsfile.Name), Why: err.Error()})
	}
	if err := checkAdaptive(dir, func(err error) { damaged = append(damaged, err) }); err != nil {
		return err
	}
	err = files.RepairEach(damaged, tell, func(path string) (string, error) {
		return "what was in it is lost", files.Aside(aside, path)
	})
	if _, e := os.Stat(aside); e == nil {
		done.Aside = aside
	}
	return err
}
