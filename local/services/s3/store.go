package s3

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"stepback/internal/objectevent"
	"stepback/internal/ownerfs"
	"stepback/local/services/delivery"
	"stepback/local/services/iam/policy"
	"stepback/local/services/inventory"
)

// store stores objects in a directory and serves the S3 protocol. It has about one file per operation.
type store struct {
	root    string
	sync    bool
	stamps  stamps
	created func(objectevent.Event)
	region  string
	account string
	deliver func(context.Context, string, *delivery.Message) error // nil if nothing is delivered
	log     *slog.Logger
	files   *inventory.Files
	// mustAnnounce reports whether created must be called for every object of a bucket, whatever happens; nil for none.
	mustAnnounce func(bucket string) bool

	// authorizes, enforces, signer and secret are those of Options; each may be nil.
	authorizes func(r *http.Request, keys func() policy.Context) error
	enforces   func() bool
	signer     func(*http.Request) (policy.Principal, error)
	secret     func(r *http.Request, key string) (secret string, known bool, err error)

	settings settingsCache
	parsed   parsedSettings
	seen     seenRecords
	// newFile creates the file that receives a body; tests replace it to simulate a full disk.
	newFile func(dir string) (bodyFile, error)
	// newRecord creates the file of a description, which must not exist; tests replace it likewise.
	newRecord func(path string) (bodyFile, error)

	turns turns
	logs  accessLogs
}

func openStore(dir string, opts Options) (*store, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &store{root: root, sync: opts.Sync, stamps: stamps{now: opts.Now}, newFile: newBodyFile,
		newRecord: newRecordFile, created: opts.ObjectCreated, region: opts.Region, account: opts.Account,
		deliver: opts.Deliver, log: opts.Log, files: opts.Files, mustAnnounce: opts.MustAnnounce,
		authorizes: opts.Authorize, enforces: opts.Enforces, signer: opts.Signer, secret: opts.Secret}
	for _, d := range []string{s.tempDir(), s.metaDir(""), s.uploadsDir(), s.noticesDir()} {
		if err := os.MkdirAll(d, ownerfs.Dir); err != nil {
			return nil, err
		}
	}
	return s, s.dropUnfinished()
}

// dropUnfinished removes bodies that a killed process had not completely received.
func (s *store) dropUnfinished() error {
	entries, err := os.ReadDir(s.tempDir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(s.tempDir(), e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) tempDir() string                { return filepath.Join(s.root, ".tmp") }
func (s *store) uploadsDir() string             { return filepath.Join(s.root, ".uploads") }
func (s *store) bucketDir(bucket string) string { return filepath.Join(s.root, bucket) }
func (s *store) metaDir(bucket string) string   { return filepath.Join(s.root, ".meta", bucket) }

func (s *store) recordPath(bucket, key string) string {
	return filepath.Join(s.metaDir(bucket), filepath.FromSlash(keyPath(key))+recordSuffix)
}

// objectPaths returns the two paths at which the object may be: plain, its own name, and beside, which is used if a
// directory has that name.
func (s *store) objectPaths(bucket, key string) (plain, beside string) {
	plain = filepath.Join(s.bucketDir(bucket), filepath.FromSlash(keyPath(key)))
	return plain, plain + objectSuffix
}

// findObject describes the object's file without opening it. It looks where openObject does.
func (s *store) findObject(bucket, key string) (fs.FileInfo, error) {
	plain, beside := s.objectPaths(bucket, key)
	for _, name := range []string{plain, beside} {
		info, err := os.Stat(name)
		switch {
		case isMissing(err) || err == nil && !info.Mode().IsRegular():
		default:
			return info, err
		}
	}
	return nil, noSuchKey(key)
}

// openObject opens the object's file. An object only ever moves from the plain path to the suffixed one. Trying the
// plain path first therefore never misses it.
func (s *store) openObject(bucket, key string) (*os.File, fs.FileInfo, error) {
	plain, beside := s.objectPaths(bucket, key)
	for _, name := range []string{plain, beside} {
		f, err := os.Open(name)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		info, err := f.Stat()
		if err == nil && info.Mode().IsRegular() {
			return f, info, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, noSuchKey(key)
}

// isMissing reports whether err means that a path does not exist, because it or one of its parents is missing, is a
// file, or is longer than the system allows.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isNotDirectory(err)
}

// stamps gives every object a unique modification time, so that the time distinguishes two versions of an object.
type stamps struct {
	now  func() time.Time
	mu   sync.Mutex
	last time.Time
}

// stampStep is the resolution of modification times. Every common file system preserves it.
const stampStep = time.Microsecond

func (s *stamps) next() time.Time {
	now := s.now().UTC().Truncate(stampStep)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.After(s.last) {
		now = s.last.Add(stampStep)
	}
	s.last = now
	return now
}
