package s3

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// The versioning states of a bucket; a bucket that never had versioning has none.
const (
	versionsEnabled   = "Enabled"
	versionsSuspended = "Suspended"
)

// nullVersion is the ID of an object's only version in a bucket without versioning.
const nullVersion = "null"

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

// versioningOf returns the versioning state of a bucket.
func (s *store) versioningOf(bucket string) (string, error) {
	all, err := s.settingsOf(bucket)
	if err != nil {
		return "", err
	}
	v, err := parseSetting[versioning](s, all, "versioning")
	return v.Status, err
}

// versioning is the XML of a bucket's versioning.
type versioning struct {
	Status    string
	MFADelete string `xml:"MfaDelete"`
}

func checkVersioning(s *store, c *call, text []byte) error {
	var v versioning
	if xml.Unmarshal(text, &v) != nil {
		return malformedXML()
	}
	switch {
	case v.MFADelete == versionsEnabled:
		return notImplemented("Deletion with a second factor (MfaDelete) is not served here.")
	case v.Status != versionsEnabled && v.Status != versionsSuspended:
		return fail("IllegalVersioningConfigurationException", "The Versioning element must be specified", nil)
	}
	lock, err := s.lockOf(c.bucket)
	if err == nil && lock != nil && v.Status == versionsSuspended {
		err = fail(
			"InvalidBucketState",
			"An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.",
			nil,
		)
	}
	return err
}

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
		prune(filepath.Dir(dir), filepath.Join(s.root, ".versions"))
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

// shelve adds the current version of an object to its shelf; the file stays in place for now. commit is held.
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

// prepareReplacement prepares the replacement of the current version and returns the ID of the new version. If the
// bucket's versioning requires it, the current version is shelved. commit is held.
func (s *store) prepareReplacement(bucket, key string, current *version) (id string, err error) {
	status, err := s.versioningOf(bucket)
	if err != nil || status == "" {
		return "", err
	}
	h, err := s.readShelf(bucket, key)
	if err != nil {
		return "", err
	}
	if status == versionsEnabled {
		id = rand.Text()
	} else if err := s.drop(bucket, &h, ""); err != nil { // there is only one null version
		return "", err
	}
	if current != nil && current.ID != id {
		if err := s.shelve(bucket, &h, *current); err != nil {
			return "", err
		}
	}
	return id, s.writeShelf(bucket, h)
}

// deleteLatest deletes an object, or adds a delete marker if the bucket has versioning. allowed, if not nil, receives
// the current version (nil if there is none) and may return an error.
func (s *store) deleteLatest(bucket, key string, allowed func(*version) error) (result deletion, err error) {
	status, err := s.versioningOf(bucket)
	if err != nil {
		return result, err
	}
	event := removedMarker
	if status == "" {
		event = removedDelete
	}
	n, err := s.noteDeletion(bucket, key, event)
	if err != nil {
		return result, err
	}
	var changed bool
	if status == "" {
		changed, err = s.remove(bucket, key, allowed)
	} else {
		result, err = s.mark(bucket, key, allowed)
		changed = err == nil
	}
	told := true
	if changed {
		told = s.announceDeletion(bucket, key, event)
	}
	s.settle(n, told)
	return result, err
}

// mark adds a delete marker as the newest version of an object.
func (s *store) mark(bucket, key string, allowed func(*version) error) (result deletion, err error) {
	s.commit.Lock()
	defer s.commit.Unlock()
	current, err := s.current(bucket, key)
	if err == nil && allowed != nil {
		err = allowed(current)
	}
	if err != nil {
		return result, err
	}
	id, err := s.prepareReplacement(bucket, key, current)
	if err != nil {
		return result, err
	}
	h, err := s.readShelf(bucket, key)
	if err != nil {
		return result, err
	}
	h.Entries = append([]entry{{version: version{ID: id, Modified: s.stamps.next()}, Marker: true}}, h.Entries...)
	if err := s.writeShelf(bucket, h); err != nil {
		return result, err
	}
	_, err = s.unlink(bucket, key)
	return deletion{marker: true, versionID: shownID(id)}, err
}

// shownID returns the ID of a version as clients know it.
func shownID(id string) string {
	if id == "" {
		return nullVersion
	}
	return id
}

// keptID returns the ID of a version as it is stored.
func keptID(id string) string {
	if id == nullVersion {
		return ""
	}
	return id
}

// DeleteObjectVersion permanently deletes a version, whose ID is the stored one. If it was the current version, the
// next newest one becomes current. allowed, if not nil, receives the version (nil if there is none, or for a delete
// marker) and may return an error.
func (s *store) DeleteObjectVersion(bucket, key, id string, allowed func(*version) error) (result deletion, err error) {
	n, err := s.note(
		notice{Event: removedDelete, Bucket: bucket, Key: key, ByVersion: true, Version: versionWithID(id)},
	)
	if err != nil {
		return result, s.storageError(err)
	}
	told := true
	result, changed, err := s.deleteVersion(bucket, key, id, allowed)
	if err == nil && changed {
		told = s.announceDeletion(bucket, key, removedDelete)
	}
	s.settle(n, told)
	return result, err
}

func versionWithID(id string) version { return version{ID: id} }

func (s *store) deleteVersion(
	bucket, key, id string,
	allowed func(*version) error,
) (result deletion, changed bool, err error) {
	s.commit.Lock()
	defer s.commit.Unlock()
	h, err := s.readShelf(bucket, key)
	if err != nil {
		return result, false, s.storageError(err)
	}
	current, err := s.current(bucket, key)
	if err != nil {
		return result, false, s.storageError(err)
	}
	result.versionID = shownID(id)
	i := slices.IndexFunc(h.Entries, func(e entry) bool { return e.ID == id })
	isCurrent := current != nil && current.ID == id
	if allowed != nil {
		var v *version
		if isCurrent {
			v = current
		} else if i >= 0 && !h.Entries[i].Marker {
			v = &h.Entries[i].version
		}
		if err := allowed(v); err != nil {
			return result, false, err
		}
	}
	switch {
	case isCurrent:
		if _, err := s.unlink(bucket, key); err != nil {
			return result, false, s.storageError(err)
		}
		current = nil
	case i < 0:
		return result, false, nil
	default:
		result.marker = h.Entries[i].Marker
		if err := s.drop(bucket, &h, id); err != nil {
			return result, false, s.storageError(err)
		}
	}
	if current == nil {
		if err := s.restore(bucket, &h); err != nil {
			return result, false, s.storageError(err)
		}
	}
	return result, true, s.storageError(s.writeShelf(bucket, h))
}

// restore makes the newest version of a shelf the current one, unless a delete marker hides it. commit is held.
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

// openNamed opens the current version of an object or, if byVersion is true, the one with an ID. The error is a
// *markerError for a delete marker.
func (s *store) openNamed(bucket, key, id string, byVersion bool) (*os.File, version, error) {
	if byVersion {
		return s.openOld(bucket, key, keptID(id))
	}
	f, v, err := s.openVersion(bucket, key)
	if isCode(err, "NoSuchKey") {
		if h, shelfErr := s.readShelf(bucket, key); shelfErr == nil && len(h.Entries) > 0 && h.Entries[0].Marker {
			err = &markerError{h.Entries[0]}
		}
	}
	return f, v, err
}

// openVersion opens an object and returns its current version.
func (s *store) openVersion(bucket, key string) (*os.File, version, error) {
	if err := s.requireBucket(bucket); err != nil {
		return nil, version{}, err
	}
	f, info, err := s.openObject(bucket, key)
	if isCode(err, "NoSuchKey") && s.missingObject(bucket, key) != nil {
		f, info, err = s.openUnchanging(bucket, key)
	}
	if err != nil {
		return nil, version{}, s.storageError(err)
	}
	v, err := s.describe(bucket, key, f, info)
	if err != nil {
		_ = f.Close()
		return nil, version{}, s.storageError(err)
	}
	return f, v, nil
}

// openUnchanging opens an object while no other request changes it. Its error is an *inventory.DamagedError if the
// object's file is missing: an object that was deleted and stored again between two looks is not.
func (s *store) openUnchanging(bucket, key string) (*os.File, fs.FileInfo, error) {
	s.commit.Lock()
	defer s.commit.Unlock()
	f, info, err := s.openObject(bucket, key)
	if isCode(err, "NoSuchKey") {
		if missing := s.missingObject(bucket, key); missing != nil {
			err = missing
		}
	}
	return f, info, err
}

// describeVersion returns a version of an object; an empty ID stands for the current one.
func (s *store) describeVersion(bucket, key, id string) (version, error) {
	f, v, err := s.openNamed(bucket, key, id, id != "")
	if err == nil {
		_ = f.Close()
	}
	if marker := (*markerError)(nil); errors.As(err, &marker) {
		err = methodNotAllowed(http.MethodGet, "DeleteMarker")
		if id == "" {
			err = noSuchKey(key)
		}
	}
	return v, err
}

// changeVersion changes the description of a version; an empty ID stands for the current one. It returns the changed
// version.
func (s *store) changeVersion(bucket, key, id string, change func(*version) error) (version, error) {
	s.commit.Lock()
	defer s.commit.Unlock()
	v, err := s.current(bucket, key)
	if err != nil {
		return version{}, s.storageError(err)
	}
	if v != nil && (id == "" || v.ID == keptID(id)) {
		if err := change(v); err != nil {
			return version{}, err
		}
		return *v, s.storageError(s.writeRecord(bucket, record{Key: key, Versions: []version{*v}}))
	}
	if id == "" {
		return version{}, noSuchKey(key)
	}
	h, err := s.readShelf(bucket, key)
	if err != nil {
		return version{}, s.storageError(err)
	}
	i := slices.IndexFunc(h.Entries, func(e entry) bool { return e.ID == keptID(id) })
	switch {
	case i < 0:
		return version{}, noSuchVersion(key, id)
	case h.Entries[i].Marker:
		return version{}, methodNotAllowed(http.MethodPut, "DeleteMarker")
	}
	if err := change(&h.Entries[i].version); err != nil {
		return version{}, err
	}
	return h.Entries[i].version, s.storageError(s.writeShelf(bucket, h))
}

// openOld opens a version of an object, whether current or noncurrent.
func (s *store) openOld(bucket, key string, id string) (*os.File, version, error) {
	f, v, err := s.openVersion(bucket, key)
	if err == nil && v.ID == id {
		return f, v, nil
	}
	if err == nil {
		_ = f.Close()
	} else if !isCode(err, "NoSuchKey") {
		return nil, v, err
	}
	h, err := s.readShelf(bucket, key)
	if err != nil {
		return nil, v, s.storageError(err)
	}
	i := slices.IndexFunc(h.Entries, func(e entry) bool { return e.ID == id })
	switch {
	case i < 0:
		return nil, v, noSuchVersion(key, shownID(id))
	case h.Entries[i].Marker:
		return nil, v, &markerError{h.Entries[i]}
	}
	v = h.Entries[i].version
	f, err = os.Open(s.bodyName(bucket, key, id))
	if errors.Is(err, fs.ErrNotExist) {
		err = &inventory.DamagedError{Path: s.bodyName(bucket, key, id), Why: "it is missing"}
	}
	if err != nil {
		return nil, v, s.storageError(err)
	}
	if info, err := f.Stat(); err == nil && info.Size() != v.Size {
		_ = f.Close()
		return nil, v, s.storageError(&inventory.DamagedError{Path: f.Name(),
			Why: fmt.Sprintf("it has %d bytes, and had %d", info.Size(), v.Size)})
	}
	return f, v, nil
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
