package s3

import (
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"

	"github.com/johannesboyne/gofakes3"
)

// etagHeader carries the ETag of a multipart upload, which is not a plain hash, through gofakes3 to the front
// handler. gofakes3 only supports hashes.
const etagHeader = "X-Amz-Stepback-Etag"

// GetObject opens an object, or a range of one, for streaming.
func (s *store) GetObject(bucket, key string, want *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	f, v, err := s.openVersion(bucket, key)
	if err != nil {
		return nil, err
	}
	return s.ranged(f, &v, asObject(key, v), want)
}

// ranged returns obj with a reader of the file, or of the requested range. A whole content is compared with its
// checksum; a range is not.
func (s *store) ranged(f *os.File, v *version, obj *gofakes3.Object, want *gofakes3.ObjectRangeRequest) (*gofakes3.Object,
	error) {
	var err error
	if obj.Range, err = rangeOf(want, obj.Size); err != nil {
		_ = f.Close()
		return nil, err
	}
	if obj.Range != nil {
		obj.Contents = section{io.NewSectionReader(f, obj.Range.Start, obj.Range.Length), f}
		return obj, nil
	}
	obj.Contents, err = s.verifiedContent(f, v)
	return obj, err
}

// HeadObject describes an object.
func (s *store) HeadObject(bucket, key string) (*gofakes3.Object, error) {
	f, obj, err := s.open(bucket, key)
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	obj.Contents = http.NoBody
	return obj, nil
}

type section struct {
	io.Reader
	io.Closer
}

func (s *store) open(bucket, key string) (*os.File, *gofakes3.Object, error) {
	f, v, err := s.openVersion(bucket, key)
	if err != nil {
		return nil, nil, err
	}
	return f, asObject(key, v), nil
}

// openVersion opens an object and returns its current version.
func (s *store) openVersion(bucket, key string) (*os.File, version, error) {
	if err := s.requireBucket(bucket); err != nil {
		return nil, version{}, err
	}
	f, info, err := s.openObject(bucket, key)
	if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) && s.missingObject(bucket, key) != nil {
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
	if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) {
		if missing := s.missingObject(bucket, key); missing != nil {
			err = missing
		}
	}
	return f, info, err
}

func asObject(key string, v version) *gofakes3.Object {
	obj := &gofakes3.Object{Name: key, Size: v.Size, Metadata: map[string]string{
		"Content-Type":  "binary/octet-stream", // S3's default
		"Last-Modified": v.Modified.Format(http.TimeFormat),
	}}
	for name, value := range v.Headers {
		obj.Metadata[name] = value
	}
	if v.Checksum != nil {
		obj.Metadata[checksumHeader] = v.Checksum.String()
	}
	if v.ID != "" {
		obj.Metadata[versionHeader] = v.ID
	}
	if len(v.Tags) > 0 {
		obj.Metadata[tagCountHeader] = strconv.Itoa(len(v.Tags))
	}
	var err error
	if obj.Hash, err = hex.DecodeString(v.ETag); err != nil {
		obj.Metadata[etagHeader] = v.ETag
	}
	return obj
}

// rangeOf resolves a range as S3 does. A range that ends beyond the object is cut; a range that starts beyond it is
// an error.
func rangeOf(want *gofakes3.ObjectRangeRequest, size int64) (*gofakes3.ObjectRange, error) {
	if want == nil {
		return nil, nil
	}
	if want.FromEnd && want.End > size {
		return (&gofakes3.ObjectRangeRequest{End: gofakes3.RangeNoEnd}).Range(size)
	}
	if !want.FromEnd && want.End > size {
		return (&gofakes3.ObjectRangeRequest{Start: want.Start, End: gofakes3.RangeNoEnd}).Range(size)
	}
	return want.Range(size)
}
