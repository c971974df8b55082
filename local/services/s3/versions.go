package s3

import (
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"

	"stepback/local/services/inventory"
)

// The versioning states of a bucket; a bucket that never had versioning has none.
const (
	versionsEnabled   = "Enabled"
	versionsSuspended = "Suspended"
)

// nullVersion is the ID of an object's only version in a bucket without versioning.
const nullVersion = "null"

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
	case v.Status == "":
		return fail("IllegalVersioningConfigurationException", "The Versioning element must be specified", nil)
	case v.Status != versionsEnabled && v.Status != versionsSuspended:
		return malformedXML()
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

// prepareReplacement prepares the replacement of the current version and returns the ID of the new version. If the
// bucket's versioning requires it, the current version is shelved. The caller has the object's turn.
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
	defer s.prune(bucket, key)
	defer s.turn(bucket, key)()
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
	defer s.prune(bucket, key)
	defer s.placing(bucket, key)()
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
	if !isBucketName(bucket) {
		return nil, version{}, noSuchBucket(bucket)
	}
	f, info, err := s.openObject(bucket, key)
	if isCode(err, "NoSuchKey") {
		if err := s.requireBucket(bucket); err != nil {
			return nil, version{}, err
		}
	}
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
	defer s.turn(bucket, key)()
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
	defer s.turn(bucket, key)()
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
