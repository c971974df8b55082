package s3

import (
	"os"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// ListBucket returns one page of keys and common prefixes.
func (s *store) ListBucket(bucket string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList,
	error) {
	if err := s.requireBucket(bucket); err != nil {
		return nil, err
	}
	if prefix == nil {
		prefix = &gofakes3.Prefix{}
	}
	p := listPage{store: s, bucket: bucket, prefix: *prefix, limit: page.MaxKeys, list: gofakes3.NewObjectList()}
	p.walker = walker{prefix: prefix.Prefix, after: page.Marker, visit: p.visit}
	if p.limit <= 0 {
		return p.list, nil
	}
	if _, err := p.walker.dir(s.bucketDir(bucket), ""); err != nil {
		return nil, s.storageError(err)
	}
	return p.list, nil
}

type listPage struct {
	store  *store
	walker walker
	bucket string
	prefix gofakes3.Prefix
	limit  int64
	last   string
	list   *gofakes3.ObjectList
}

func (p *listPage) visit(key, path string) (bool, error) {
	common, rolled := commonPrefix(key, p.prefix)
	if rolled && common == p.walker.after { // the previous page ended with it
		p.walker.skip = common
		return true, nil
	}
	if int64(len(p.list.Contents)+len(p.list.CommonPrefixes)) == p.limit {
		p.list.IsTruncated, p.list.NextMarker = true, p.last
		return false, nil
	}
	if rolled {
		p.list.AddPrefix(common)
		p.walker.skip, p.last = common, common
		return true, nil
	}
	content, err := p.store.content(p.bucket, key, path)
	if content != nil {
		p.list.Add(content)
		p.last = key
	}
	return true, err
}

// commonPrefix returns the common prefix under which a listing with a delimiter groups key.
func commonPrefix(key string, p gofakes3.Prefix) (string, bool) {
	if p.Delimiter == "" {
		return "", false
	}
	i := strings.Index(key[len(p.Prefix):], p.Delimiter)
	if i < 0 {
		return "", false
	}
	return key[:len(p.Prefix)+i+len(p.Delimiter)], true
}

// content describes one object of a listing; it returns nil if the object has been removed in the meantime or is not
// a regular file.
func (s *store) content(bucket, key, path string) (*gofakes3.Content, error) {
	info, err := os.Stat(path)
	if isMissing(err) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, known, err := s.lookup(bucket, key, info)
	if err != nil {
		return nil, err
	}
	if !known {
		f, info, err := s.openObject(bucket, key)
		if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if v, err = s.describe(bucket, key, f, info); err != nil {
			return nil, err
		}
	}
	return &gofakes3.Content{
		Key: key, Size: v.Size, ETag: quoted(v.ETag), StorageClass: gofakes3.StorageStandard,
		LastModified: gofakes3.NewContentTime(v.Modified),
	}, nil
}
