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

	"github.com/johannesboyne/gofakes3"

	"stepback/aws"
	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// The versioning states of a bucket; a bucket that never had versioning has none.
const (
	versionsEnabled   = "Enabled"
	versionsSuspended = "Suspended"
)

// nullMark represents the null version of a versioned bucket in gofakes3, because gofakes3 interprets "null" as no
// version.
const nullMark = "stepback-null"

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
	if err != nil || all["versioning"] == "" {
		return "", err
	}
	var v struct{ Status string }
	return v.Status, xml.Unmarshal([]byte(all["versioning"]), &v)
}

func checkVersioning(_ *store, _ *call, text []byte) error {
	var v struct {
		Status    string
		MFADelete string `xml:"MfaDelete"`
	}
	if xml.Unmarshal(text, &v) != nil {
		return malformedXML()
	}
	switch {
	case v.MFADelete == versionsEnabled:
		return notImplemented("Deletion with a second factor (MfaDelete) is not served here.")
	case v.Status != versionsEnabled && v.Status != versionsSuspended:
		return &aws.Error{Code: "IllegalVersioningConfigurationException",
			Message: "The Versioning element must be specified"}
	}
	return nil
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

// deleteLatest deletes an object, or adds a delete marker if the bucket has versioning.
func (s *store) deleteLatest(bucket, key string) (result gofakes3.ObjectDeleteResult, err error) {
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
		changed, err = s.remove(bucket, key)
	} else {
		result, err = s.mark(bucket, key)
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
func (s *store) mark(bucket, key string) (result gofakes3.ObjectDeleteResult, err error) {
	s.commit.Lock()
	defer s.commit.Unlock()
	current, err := s.current(bucket, key)
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
	return gofakes3.ObjectDeleteResult{IsDeleteMarker: true, VersionID: gofakes3.VersionID(shownID(id))}, err
}

// shownID returns the ID of a version as clients know it.
func shownID(id string) string {
	if id == "" {
		return nullVersion
	}
	return id
}

// keptID returns the ID of a version as it is stored.
func keptID(id gofakes3.VersionID) string {
	if id == nullMark || id == nullVersion {
		return ""
	}
	return string(id)
}

// DeleteObjectVersion permanently deletes a version. If it was the current version, the next newest one becomes
// current.
func (s *store) DeleteObjectVersion(bucket, key string, version gofakes3.VersionID) (result gofakes3.
	ObjectDeleteResult, err error) {
	if err := s.requireBucket(bucket); err != nil {
		return result, err
	}
	n, err := s.note(notice{Event: removedDelete, Bucket: bucket, Key: key, ByVersion: true,
		Version: versionWithID(keptID(version))})
	if err != nil {
		return result, s.storageError(err)
	}
	told := true
	if result, err = s.deleteVersion(bucket, key, keptID(version)); err == nil && result.VersionID != "" {
		told = s.announceDeletion(bucket, key, removedDelete)
	}
	s.settle(n, told)
	return result, err
}

func versionWithID(id string) version { return version{ID: id} }

func (s *store) deleteVersion(bucket, key, id string) (result gofakes3.ObjectDeleteResult, err error) {
	s.commit.Lock()
	defer s.commit.Unlock()
	h, err := s.readShelf(bucket, key)
	if err != nil {
		return result, s.storageError(err)
	}
	current, err := s.current(bucket, key)
	if err != nil {
		return result, s.storageError(err)
	}
	result.VersionID = gofakes3.VersionID(shownID(id))
	if current != nil && current.ID == id {
		if _, err := s.unlink(bucket, key); err != nil {
			return result, s.storageError(err)
		}
		current = nil
	} else {
		i := slices.IndexFunc(h.Entries, func(e entry) bool { return e.ID == id })
		if i < 0 {
			return gofakes3.ObjectDeleteResult{}, nil
		}
		result.IsDeleteMarker = h.Entries[i].Marker
		if err := s.drop(bucket, &h, id); err != nil {
			return result, s.storageError(err)
		}
	}
	if current == nil {
		if err := s.restore(bucket, &h); err != nil {
			return result, s.storageError(err)
		}
	}
	return result, s.storageError(s.writeShelf(bucket, h))
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

// DeleteMultiVersions deletes objects and versions and returns the result for each.
func (s *store) DeleteMultiVersions(bucket string, objects ...gofakes3.ObjectID) (result gofakes3.MultiDeleteResult,
	err error) {
	if err := s.requireBucket(bucket); err != nil {
		return result, err
	}
	if err := s.forgetLatest(bucket, objects); err != nil {
		return result, s.storageError(err)
	}
	for _, o := range objects {
		if o.VersionID == "" {
			_, err = s.deleteLatest(bucket, o.Key)
		} else {
			_, err = s.DeleteObjectVersion(bucket, o.Key, gofakes3.VersionID(o.VersionID))
		}
		if err != nil {
			result.Error = append(result.Error, gofakes3.ErrorResult{Key: o.Key, Code: gofakes3.ErrInternal,
				Message: err.Error()})
			continue
		}
		result.Deleted = append(result.Deleted, o)
	}
	return result, nil
}

// forgetLatest removes objects from the inventory together, before they are deleted one by one.
func (s *store) forgetLatest(bucket string, objects []gofakes3.ObjectID) error {
	status, err := s.versioningOf(bucket)
	if err != nil || status != "" {
		return err
	}
	var records []string
	for _, o := range objects {
		records = append(records, s.recordPath(bucket, o.Key))
	}
	return s.files.Forget(records...)
}

// openOld opens a version of an object, whether current or noncurrent.
func (s *store) openOld(bucket, key string, id string) (*os.File, version, error) {
	f, v, err := s.openVersion(bucket, key)
	if err == nil && v.ID == id {
		return f, v, nil
	}
	if err == nil {
		_ = f.Close()
	} else if !gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) {
		return nil, v, err
	}
	h, err := s.readShelf(bucket, key)
	if err != nil {
		return nil, v, s.storageError(err)
	}
	i := slices.IndexFunc(h.Entries, func(e entry) bool { return e.ID == id })
	switch {
	case i < 0:
		return nil, v, gofakes3.ErrorMessage(gofakes3.ErrNoSuchVersion, "The specified version does not exist.")
	case h.Entries[i].Marker:
		return nil, v, gofakes3.ErrMethodNotAllowed
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

// GetObjectVersion opens a version, or a range of one, for streaming.
func (s *store) GetObjectVersion(bucket, key string, id gofakes3.VersionID,
	want *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	f, v, err := s.openOld(bucket, key, keptID(id))
	if err != nil {
		return nil, err
	}
	obj := asObject(key, v)
	obj.Metadata[versionHeader] = shownID(v.ID)
	return s.ranged(f, &v, obj, want)
}

// HeadObjectVersion describes a version.
func (s *store) HeadObjectVersion(bucket, key string, id gofakes3.VersionID) (*gofakes3.Object, error) {
	f, v, err := s.openOld(bucket, key, keptID(id))
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	obj := asObject(key, v)
	obj.Metadata[versionHeader], obj.Contents = shownID(v.ID), http.NoBody
	return obj, nil
}

// versionHeader contains the version ID of an object.
const versionHeader = "X-Amz-Version-Id"

// VersioningConfiguration is never called: gofakes3 requires it for backends with versions, but the front handler
// serves these requests itself. The same applies to SetVersioningConfiguration and ListBucketVersions.
func (s *store) VersioningConfiguration(string) (gofakes3.VersioningConfiguration, error) {
	return gofakes3.VersioningConfiguration{}, gofakes3.ErrNotImplemented
}

// SetVersioningConfiguration is served by the front handler.
func (s *store) SetVersioningConfiguration(string, gofakes3.VersioningConfiguration) error {
	return gofakes3.ErrNotImplemented
}

// ListBucketVersions is served by the front handler.
func (s *store) ListBucketVersions(string, *gofakes3.Prefix,
	*gofakes3.ListBucketVersionsPage) (*gofakes3.ListBucketVersionsResult, error) {
	return nil, gofakes3.ErrNotImplemented
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
