package s3

import (
	"crypto/md5"
	"encoding/hex"
	"io"
	"os"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// bodyFile is the subset of *os.File that is needed to receive a body.
type bodyFile interface {
	io.Writer
	Name() string
	Sync() error
	Close() error
}

func newBodyFile(dir string) (bodyFile, error) {
	return os.CreateTemp(dir, "body-*")
}

// body is content that has been received completely and does not belong to an object yet.
type body struct {
	path     string
	size     int64
	etag     string
	crc      string    // CRC-32C
	checksum *checksum // nil if not requested
	tags     []tag
}

// discard removes the body's file, unless an object has taken it over.
func (b body) discard() { _ = os.Remove(b.path) }

// receive streams r into a new file. If it fails, it leaves nothing behind.
func (s *store) receive(r io.Reader, size int64) (b body, err error) {
	f, err := s.newFile(s.tempDir())
	if err != nil {
		return body{}, s.storageError(err)
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = s.storageError(closeErr)
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	sum, crc := hasherOf(r), newSum()
	n, err := io.CopyBuffer(io.MultiWriter(f, crc), sum.reader, make([]byte, 256<<10))
	if err != nil {
		return body{}, s.storageError(err)
	}
	if n != size {
		return body{}, gofakes3.ErrorMessagef(gofakes3.ErrIncompleteBody,
			"The request announced %d bytes and sent %d", size, n)
	}
	if s.sync {
		if err := f.Sync(); err != nil {
			return body{}, s.storageError(err)
		}
	}
	return body{path: f.Name(), size: n, etag: hex.EncodeToString(sum.Sum(nil)),
		crc: hex.EncodeToString(crc.Sum(nil))}, nil
}

// summing is a reader that also provides the MD5 of the bytes read.
type summing struct {
	reader io.Reader
	Sum    func([]byte) []byte
}

// hasherOf returns a reader with the hash of a body. It uses the hash that gofakes3 computes while it reads the
// body, or computes one if gofakes3 does not.
func hasherOf(r io.Reader) summing {
	if h, ok := r.(interface{ Sum([]byte) []byte }); ok {
		return summing{reader: r, Sum: h.Sum}
	}
	h := md5.New()
	return summing{reader: io.TeeReader(r, h), Sum: h.Sum}
}

// stamp gives the file a unique modification time and returns it.
func (s *store) stamp(path string) (time.Time, error) {
	at := s.stamps.next()
	return at, os.Chtimes(path, at, at)
}
