package s3

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// entry is a noncurrent version of an object, or a delete marker.
type entry struct {
	version
	Marker bool `json:"marker,omitempty"`
}

// shelf holds the versions of an object except its current one, newest first. If the first entry is a delete marker,
// there is no current version.
type shelf struct {
	Key     string  `json:"key"`
	Entries []entry `json:"entries"`
}

func (s *store) versionsDir(bucket string) string { return filepath.Join(s.root, ".versions", bucket) }

func (s *store) shelfDir(bucket, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.versionsDir(bucket), hex.EncodeToString(sum[:]))
}

const shelfFile = "index.json"

// readShelf reads the shelf of an object; it is empty if there is none.
func (s *store) readShelf(bucket, key string) (shelf, error) {
	return s.readShelfFile(filepath.Join(s.shelfDir(bucket, key), shelfFile), key)
}

func (s *store) readShelfFile(path, key string) (shelf, error) {
	found := shelf{Key: key}
	text, err := s.files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return found, &inventory.DamagedError{Path: path, Why: err.Error()}
	}
	return found, nil
}

// writeShelf saves a shelf. If the shelf is empty, its file is removed.
func (s *store) writeShelf(bucket string, h shelf) error {
	dir := s.shelfDir(bucket, h.Key)
	if len(h.Entries) == 0 {
		err := s.files.Forget(filepath.Join(dir, shelfFile))
		if err == nil {
			err = os.RemoveAll(dir)
		}
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	note, err := s.replaceSealed(filepath.Join(dir, shelfFile), text)
	if err == nil {
		note()
	}
	return err
}

// bodyName returns the path of a version's content.
func (s *store) bodyName(bucket, key, id string) string {
	if id == "" {
		id = nullVersion
	}
	return filepath.Join(s.shelfDir(bucket, key), id)
}

// drop removes a version and its content from the shelf.
func (s *store) drop(bucket string, h *shelf, id string) error {
	h.Entries = slices.DeleteFunc(h.Entries, func(e entry) bool { return e.ID == id })
	err := os.Remove(s.bodyName(bucket, h.Key, id))
	if isMissing(err) {
		return nil
	}
	return err
}

// shelve adds the current version of an object to its shelf; the file stays in place for now. The caller has
// the object's turn.
func (s *store) shelve(bucket string, h *shelf, current version) error {
	if err := s.drop(bucket, h, current.ID); err != nil { // left behind by a crash
		return err
	}
	f, _, err := s.openObject(bucket, h.Key)
	if err != nil {
		return err
	}
	_ = f.Close()
	name := s.bodyName(bucket, h.Key, current.ID)
	if err := os.MkdirAll(filepath.Dir(name), ownerfs.Dir); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err != nil {
		return err
	}
	h.Entries = append([]entry{{version: current}}, h.Entries...)
	return nil
}

// restore makes the newest version of a shelf the current one, unless a delete marker hides it. The caller has
// the object's turn for placing.
func (s *store) restore(bucket string, h *shelf) error {
	if len(h.Entries) == 0 || h.Entries[0].Marker {
		return nil
	}
	latest := h.Entries[0].version
	note, err := s.prepareRecord(bucket, record{Key: h.Key, Versions: []version{latest}})
	if err != nil {
		return err
	}
	if err := s.moveIntoPlace(bucket, h.Key, s.bodyName(bucket, h.Key, latest.ID)); err != nil {
		return err
	}
	note()
	h.Entries = h.Entries[1:]
	return nil
}

// markerError reports that a version is a delete marker.
type markerError struct{ entry entry }

func (e *markerError) Error() string {
	return "the version " + shownID(e.entry.ID) + " is a delete marker"
}

// shelves returns all shelves of a bucket, in no particular order.
func (s *store) shelves(bucket string) ([]shelf, error) {
	entries, err := os.ReadDir(s.versionsDir(bucket))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []shelf
	for _, e := range entries {
		h, err := s.readShelfFile(filepath.Join(s.versionsDir(bucket), e.Name(), shelfFile), "")
		if err != nil {
			return nil, err
		}
		if len(h.Entries) > 0 {
			all = append(all, h)
		}
	}
	return all, nil
}
