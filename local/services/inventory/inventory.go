package inventory

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/internal/atomicfile"
	"stepback/internal/sealedjson"
	"stepback/local/services/documents"
)

// DamagedError reports a file that differs from what was written.
type DamagedError = sealedjson.DamagedError

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of a text, CRC-32C, given that of the text before it.
func Sum(before uint32, text []byte) uint32 { return crc32.Update(before, castagnoli, text) }

// Entry describes a file.
type Entry struct {
	// Generation is the newest generation of a sealed file; 0 for a file that only grows.
	Generation uint64 `json:"generation,omitempty"`
	// Length and Sum are the length in bytes and the checksum of the beginning of a file that only grows.
	Length int64  `json:"length,omitempty"`
	Sum    uint32 `json:"sum,omitempty"`
	// Whole is true if Length is that of the whole file, which is replaced and does not grow.
	Whole bool `json:"whole,omitempty"`
	// Changing is true while such a file is being replaced.
	Changing bool `json:"changing,omitempty"`
}

// Files is the inventory of a data directory. It is safe for concurrent use. A nil *Files holds nothing: it writes and
// verifies seals, but does not miss a file.
type Files struct {
	root  string
	base  string // root with a separator at its end; empty if paths below it do not begin so
	store *documents.Store
	table *documents.Table

	mu      sync.Mutex
	pending map[string]Entry // not stored yet
	stop    chan struct{}
	ended   sync.WaitGroup
}

// tableName is the name of the inventory's table in the store of documents.
const tableName = "files"

// View returns the inventory of the data directory root for reading.
func View(store *documents.Store, root string) *Files {
	f := &Files{root: root, store: store, table: store.Table(tableName), pending: map[string]Entry{}}
	if clean := filepath.Clean(root); clean != "." {
		f.base = strings.TrimSuffix(clean, string(filepath.Separator)) + string(filepath.Separator)
	}
	return f
}

// storeEvery is the interval at which entries are stored for which no caller waits.
const storeEvery = time.Second

// Open opens the inventory of the data directory root. Close must be called before the store is closed.
func Open(store *documents.Store, root string) *Files {
	f := View(store, root)
	f.stop = make(chan struct{})
	f.ended.Go(func() {
		tick := time.NewTicker(storeEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = f.flush(false) // the store reports what breaks it
			case <-f.stop:
				return
			}
		}
	})
	return f
}

// Close stores the entries that are waiting.
func (f *Files) Close() error {
	if f == nil || f.stop == nil {
		return nil
	}
	close(f.stop)
	f.ended.Wait()
	return f.flush(true)
}

// key returns the key of a path in the table: the slash-separated path below the root.
func (f *Files) key(path string) string {
	if below, ok := strings.CutPrefix(path, f.base); ok && f.base != "" {
		return filepath.ToSlash(below)
	}
	if below, err := filepath.Rel(f.root, path); err == nil {
		path = below
	}
	return filepath.ToSlash(path)
}

// flush stores the entries that are waiting. If wait is true, it waits for the disk.
func (f *Files) flush(wait bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.pending) == 0 {
		return nil
	}
	b, err := f.store.Begin()
	if err != nil {
		return err
	}
	for key, e := range f.pending {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		b.Put(f.table, key, text)
	}
	if !wait {
		err = b.ApplyLater()
	} else {
		err = b.Apply()()
	}
	if err == nil {
		clear(f.pending)
	}
	return err
}

// Note notes the generation of a sealed file, or the length and the checksum of one that has grown, soon after it was
// written.
func (f *Files) Note(path string, e Entry) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending[f.key(path)] = e
}

// Forget removes the entries of files that are about to be removed, and waits until that is on the disk.
func (f *Files) Forget(paths ...string) error {
	if f == nil || len(paths) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b, err := f.store.Begin()
	if err != nil {
		return err
	}
	for _, path := range paths {
		key := f.key(path)
		delete(f.pending, key)
		if _, found, err := f.table.Get(key); err != nil || !found {
			if err != nil {
				return err
			}
			continue
		}
		b.Delete(f.table, key)
	}
	return b.Apply()()
}

// Remove forgets files and removes them. A file that does not exist is no error.
func (f *Files) Remove(paths ...string) error {
	if err := f.Forget(paths...); err != nil {
		return err
	}
	var problems []error
	for _, p := range paths {
		if err := os.Remove(p); !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// RemoveAll forgets all files below a directory and removes the directory.
func (f *Files) RemoveAll(dir string) error {
	known, err := f.Below(dir)
	if err == nil {
		err = f.Forget(known...)
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// Entry returns the entry of a file; found is false if there is none.
func (f *Files) Entry(path string) (e Entry, found bool, err error) {
	if f == nil {
		return Entry{}, false, nil
	}
	key := f.key(path)
	f.mu.Lock()
	e, found = f.pending[key]
	f.mu.Unlock()
	if found {
		return e, true, nil
	}
	text, found, err := f.table.Get(key)
	if err == nil && found {
		err = json.Unmarshal(text, &e)
	}
	return e, found, err
}

// Below returns the paths of the files below a directory that the inventory has.
func (f *Files) Below(dir string) ([]string, error) {
	if f == nil {
		return nil, nil
	}
	prefix := f.key(dir) + "/"
	found := map[string]bool{}
	err := f.table.Scan(prefix, func(key string, _ []byte) error {
		found[key] = true
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.pending {
		if strings.HasPrefix(key, prefix) {
			found[key] = true
		}
	}
	paths := make([]string, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		paths = append(paths, filepath.Join(f.root, filepath.FromSlash(key)))
	}
	return paths, err
}

// Check reads the files below a directory that the inventory has, and calls problem for each that is missing or
// damaged.
func (f *Files) Check(dir string, problem func(error)) error {
	known, err := f.Below(dir)
	if err != nil {
		return err
	}
	for _, path := range known {
		if err := f.Verify(path); err != nil {
			problem(err)
		}
	}
	return nil
}

// Verify compares a file with its entry, if it has one. The error is a *DamagedError if they differ.
func (f *Files) Verify(path string) error {
	e, known, err := f.Entry(path) // before the file, which may only be newer
	if err != nil || !known || e.Changing {
		return err
	}
	if e.Generation > 0 {
		if _, err = f.ReadFile(path); errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime
		}
		return err
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, known, err := f.Entry(path); err != nil || !known {
			return err
		}
		return &DamagedError{Path: path, Why: "it is missing"}
	}
	if err == nil {
		err = VerifyGrown(path, content, e)
	}
	if err != nil && e.Whole {
		if now, _, err := f.Entry(path); err == nil && now != e {
			return nil // replaced in the meantime
		}
	}
	return err
}

// Aside moves a damaged file or directory to the same place below the directory aside, unchanged, and forgets what is
// in it. One that does not exist is only forgotten.
func (f *Files) Aside(aside, path string) error {
	known, err := f.Below(path)
	if err == nil {
		err = f.Forget(append(known, path)...)
	}
	if err != nil {
		return err
	}
	to := filepath.Join(aside, filepath.FromSlash(f.key(path)))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Rename(path, to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Replace notes that a file without a seal is about to be replaced as a whole, calls write, and notes its new content.
// A crash in between leaves a file that cannot be verified until the next time.
func (f *Files) Replace(path string, write func() error) error {
	if f == nil {
		return write()
	}
	_, known, err := f.Entry(path)
	if err == nil && known { // otherwise nothing is promised about the file
		f.Note(path, Entry{Changing: true})
		err = f.flush(true)
	}
	if err != nil {
		return err
	}
	err = write()
	content, readErr := os.ReadFile(path)
	switch {
	case readErr == nil:
		f.Note(path, Entry{Length: int64(len(content)), Sum: Sum(0, content), Whole: true})
		return err
	case errors.Is(readErr, fs.ErrNotExist):
		return errors.Join(err, f.Forget(path))
	}
	return errors.Join(err, readErr)
}

// WriteFile writes a JSON object with a seal, atomically, and returns when the file and its entry are on the disk.
func (f *Files) WriteFile(path string, object []byte, perm fs.FileMode) error {
	generation, err := f.Next(path)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, sealedjson.Seal(object, generation), perm); err != nil || f == nil {
		return err
	}
	f.Note(path, Entry{Generation: generation})
	return f.flush(true)
}

// Next returns the generation for the next write of a sealed file.
func (f *Files) Next(path string) (uint64, error) {
	e, _, err := f.Entry(path)
	return e.Generation + 1, err
}

// ReadFile reads a file that WriteFile wrote, or one without a seal of an earlier version. The error is a *DamagedError
// if it is missing, changed or older than the inventory says; it wraps fs.ErrNotExist if there is no such file and
// should be none.
func (f *Files) ReadFile(path string) ([]byte, error) {
	e, known, err := f.Entry(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && known {
		if _, known, e := f.Entry(path); e == nil && !known {
			return nil, err // removed in the meantime
		}
		return nil, &DamagedError{Path: path, Why: "it is missing"}
	}
	if err != nil {
		return nil, err
	}
	object, _, err := Verify(path, text, e, known)
	return object, err
}

// Verify returns a sealed text without its seal, and its generation. The error is a *DamagedError if the text differs
// from what was written, or is older than its entry. known is true if there is an entry.
func Verify(path string, text []byte, e Entry, known bool) (object []byte, generation uint64, err error) {
	object, generation, sealed, err := sealedjson.Unseal(text)
	switch {
	case err != nil:
		return nil, 0, &DamagedError{Path: path, Why: err.Error()}
	case !sealed && known:
		return nil, 0, &DamagedError{Path: path, Why: "its end is missing or changed"}
	case !json.Valid(object):
		return nil, 0, &DamagedError{Path: path, Why: "it is not JSON"}
	case generation < e.Generation:
		return nil, 0, &DamagedError{Path: path, Why: fmt.Sprintf("it is an older copy, generation %d of %d", generation, e.Generation)}
	}
	return object, generation, nil
}

// VerifyGrown compares the content of a file that only grows with its entry. The error is a *DamagedError.
func VerifyGrown(path string, content []byte, e Entry) error {
	switch {
	case int64(len(content)) < e.Length, e.Whole && int64(len(content)) > e.Length:
		return &DamagedError{Path: path, Why: fmt.Sprintf("it has %d bytes, and had %d", len(content), e.Length)}
	case Sum(0, content[:e.Length]) != e.Sum:
		return &DamagedError{Path: path, Why: fmt.Sprintf("its first %d bytes have changed", e.Length)}
	}
	return nil
}

// RepairEach calls repair with the path of each damaged file among errors, and passes the error with what repair
// returns, the loss, to tell. Errors of other kinds are passed to tell unchanged.
func (f *Files) RepairEach(damaged []error, tell func(error), repair func(path string) (loss string, err error)) error {
	for _, problem := range damaged {
		var d *DamagedError
		if !errors.As(problem, &d) {
			tell(problem)
			continue
		}
		loss, err := repair(d.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		tell(fmt.Errorf("%s was damaged: %s; %s", d.Path, d.Why, loss))
	}
	return nil
}
