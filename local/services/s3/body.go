package s3

import (
	"crypto/md5"
	"encoding/hex"
	"io"
	"os"
	"time"

	"stepback/internal/ownerfs"
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

func newRecordFile(path string) (bodyFile, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerfs.File)
}

// body is content that has been received completely and does not belong to an object yet.
type body struct {
	path     string
	size     int64
	etag     string
	crc      string // CRC-32C
	checksum *checksum
	// requested is the checksum algorithm that the request names; empty if it names none.
	requested string
	parts     []storedPart // of a multipart upload
	upload    string       // its ID
	placed    bool         // an object or a part has taken over the file
	description
}

// discard removes the body's file, unless an object or a part has taken it over.
func (b *body) discard() {
	if !b.placed {
		_ = os.Remove(b.path)
	}
}

// mostBuffer is the maximum size of the buffer through which a body passes.
const mostBuffer = 256 << 10

// receive streams r into a new file. The bytes are also written to check, if it is not nil. If it fails, it leaves
// nothing behind.
func (s *store) receive(r io.Reader, size int64, check *bodyCheck) (body, error) {
	b, err := s.receiveAll(io.LimitReader(r, size+1), size, check)
	if err == nil && b.size != size {
		b.discard()
		err = fail("IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header", nil)
	}
	return b, err
}

// receiveAll is receive for a body whose length is not known. expected is the size that it probably has; it only
// determines the size of the buffer.
func (s *store) receiveAll(r io.Reader, expected int64, check *bodyCheck) (b body, err error) {
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
	sum, crc := md5.New(), newSum()
	all := []io.Writer{f, crc, sum}
	if check != nil {
		all = append(all, check)
	}
	n, err := io.CopyBuffer(io.MultiWriter(all...), r, make([]byte, min(max(expected, 0)+1, mostBuffer)))
	if err != nil {
		return body{}, s.storageError(err)
	}
	if s.sync {
		if err := f.Sync(); err != nil {
			return body{}, s.storageError(err)
		}
	}
	return body{path: f.Name(), size: n, etag: hex.EncodeToString(sum.Sum(nil)),
		crc: hex.EncodeToString(crc.Sum(nil))}, nil
}

// stamp gives the file a unique modification time and returns it.
func (s *store) stamp(path string) (time.Time, error) {
	at := s.stamps.next()
	return at, os.Chtimes(path, at, at)
}
