package s3

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stepback/internal/objectevent"
	"stepback/internal/ownerfs"
	"stepback/internal/sealedjson"
	"stepback/local/services/inventory"
)

// notice is an event of which not all destinations may know. It is written before the object changes, and removed when
// the destinations have been notified, so that a process that is killed in between leaves it to the next one. Clients
// cannot help out: a repeated conditional write, completion of an upload or deletion finds the work done.
type notice struct {
	Event       string // createdPut, removedDelete, …
	Bucket, Key string
	// Version is the created version; of a deletion by version, the deleted one.
	Version version
	// Reason is the reason of a creation.
	Reason objectevent.Reason `json:",omitempty"`
	// ByVersion is true if a version was deleted, and not the object.
	ByVersion bool `json:",omitempty"`
	// Happened is true if the object is known to have changed.
	Happened bool `json:",omitempty"`

	path string
}

func (s *store) noticesDir() string { return filepath.Join(s.root, ".notices") }

// sealedNotice is the suffix of the names of notices with a checksum. Those of earlier versions, which end in .json
// alone, have none.
const sealedNotice = ".sealed.json"

// note writes a notice if the bucket has destinations to notify of changes; otherwise it returns nil, on which
// settle may be called.
func (s *store) note(n notice) (*notice, error) {
	if s.mustAnnounce == nil || !s.mustAnnounce(n.Bucket) {
		all, err := s.settingsOf(n.Bucket)
		if err != nil {
			return nil, err
		}
		if all["notification"] == "" || s.deliver == nil {
			return nil, nil //nolint:nilnil // nobody is notified
		}
	}
	n.path = filepath.Join(s.noticesDir(), rand.Text()+sealedNotice)
	return &n, s.writeNotice(&n)
}

// writeNotice replaces the file of a notice as a whole.
func (s *store) writeNotice(n *notice) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	written := filepath.Join(s.tempDir(), rand.Text())
	if err = os.WriteFile(written, sealedjson.Seal(text, 1), ownerfs.File); err == nil {
		err = os.Rename(written, n.path)
	}
	if err != nil {
		_ = os.Remove(written)
	}
	return err
}

// errHalfWritten is returned for a notice of an earlier version that was killed while it wrote the file.
var errHalfWritten = errors.New("the notice was not written to its end")

// readNotice reads a notice. The error is an *inventory.DamagedError if the file differs from what was written.
func readNotice(path string) (notice, error) {
	n := notice{path: path}
	text, err := os.ReadFile(path)
	if err != nil {
		return n, err
	}
	if strings.HasSuffix(path, sealedNotice) {
		object, _, sealed, err := sealedjson.Unseal(text)
		if err == nil && !sealed {
			err = errors.New("its end is missing or changed")
		}
		if err == nil {
			err = json.Unmarshal(object, &n)
		}
		if err != nil {
			return n, &inventory.DamagedError{Path: path, Why: err.Error()}
		}
		return n, nil
	}
	if json.Unmarshal(text, &n) != nil {
		return n, errHalfWritten
	}
	return n, nil
}

// checkNotices reads the notices, and calls problem for each damaged one.
func (s *store) checkNotices(problem func(error)) error {
	entries, err := os.ReadDir(s.noticesDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		_, err := readNotice(filepath.Join(s.noticesDir(), e.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errHalfWritten) {
			problem(err)
		}
	}
	return nil
}

// settle removes a notice. If told is false, the notice stays, and the next process notifies the destinations.
func (s *store) settle(n *notice, told bool) {
	if n == nil {
		return
	}
	var err error
	if told {
		err = os.Remove(n.path)
	} else {
		n.Happened = true
		err = s.writeNotice(n)
	}
	if err != nil {
		s.log.Error("a notification of a bucket may be repeated or lost", "bucket", n.Bucket, "key", n.Key,
			"error", err)
	}
}

// resume notifies the destinations of events that an earlier process has left. A damaged notice stays where it is, for
// stepback data check and data repair.
func (s *store) resume() error {
	entries, err := os.ReadDir(s.noticesDir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		n, err := readNotice(filepath.Join(s.noticesDir(), e.Name()))
		if damaged, ok := errors.AsType[*inventory.DamagedError](err); ok {
			s.log.Error("a notification of a bucket is lost", "error", damaged)
			continue
		}
		told := true
		switch {
		case errors.Is(err, errHalfWritten): // it precedes its change, which has not happened
		case err != nil:
			return err
		default:
			if told, err = s.resumeNotice(&n); err != nil {
				return err
			}
		}
		s.settle(&n, told)
	}
	return nil
}

// resumeNotice notifies the destinations of an event, if it has happened.
func (s *store) resumeNotice(n *notice) (told bool, err error) {
	if err := s.requireBucket(n.Bucket); err != nil {
		return true, nil //nolint:nilerr // the bucket has been deleted
	}
	if !n.Happened {
		happened, err := s.happened(n)
		if err != nil || !happened {
			return true, err
		}
	}
	if n.Reason != "" {
		return s.announce(n.Bucket, n.Key, n.Version, n.Reason), nil
	}
	return s.announceDeletion(n.Bucket, n.Key, n.Event), nil
}

// happened reports whether the change of a notice was made before the process was killed.
func (s *store) happened(n *notice) (bool, error) {
	f, v, err := s.openVersion(n.Bucket, n.Key)
	missing := isCode(err, "NoSuchKey")
	if err != nil && !missing {
		return false, err
	}
	if err == nil {
		_ = f.Close()
	}
	if n.Reason != "" {
		if !missing && v.Modified.Equal(n.Version.Modified) {
			return true, nil
		}
		r, err := s.readRecord(n.Bucket, n.Key)
		if err != nil {
			return false, err
		}
		for _, listed := range r.Versions {
			if listed.Modified.Equal(n.Version.Modified) {
				return false, nil // described, and not in place
			}
		}
		return true, nil // another change has replaced it
	}
	if !n.ByVersion {
		return missing, nil
	}
	if !missing && v.ID == n.Version.ID {
		return false, nil
	}
	h, err := s.readShelf(n.Bucket, n.Key)
	if err != nil {
		return false, err
	}
	for _, e := range h.Entries {
		if e.ID == n.Version.ID {
			return false, nil
		}
	}
	return true, nil
}

// noteDeletion writes the notice of the deletion of an object, if there is one.
func (s *store) noteDeletion(bucket, key, event string) (*notice, error) {
	f, _, err := s.openObject(bucket, key)
	if isCode(err, "NoSuchKey") {
		return nil, nil //nolint:nilnil // nothing is deleted
	}
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	return s.note(notice{Event: event, Bucket: bucket, Key: key})
}

// Resume notifies the destinations of events that an earlier process was killed before it could announce. Call it
// once, when destinations accept messages.
func (s *Server) Resume() error {
	err := s.store.resume()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
