package s3

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/local/services/inventory"
)

// bucketMark is the file in a bucket's meta directory that has the bucket's creation date. In earlier versions the file
// was empty, and its modification time was the date.
const bucketMark = "%.bucket"

// bucketMarkText is the content of a bucketMark.
type bucketMarkText struct {
	Created time.Time `json:"created"`
}

// creationDate returns the creation date of a bucket. The date of a bucket without a mark, such as a directory that a
// user made, is the modification time of its directory.
func (s *store) creationDate(bucket string) (time.Time, error) {
	path := filepath.Join(s.metaDir(bucket), bucketMark)
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		if _, known, err := s.files.Entry(path); err != nil || !known {
			return info.ModTime(), err
		}
	}
	text, err := s.files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err := os.Stat(s.bucketDir(bucket))
		if err != nil {
			return time.Time{}, err
		}
		return info.ModTime(), nil
	}
	if err != nil {
		return time.Time{}, err
	}
	var m bucketMarkText
	if err := json.Unmarshal(text, &m); err != nil {
		return time.Time{}, &inventory.DamagedError{Path: path, Why: err.Error()}
	}
	return m.Created, nil
}

// bucketInfo describes a bucket.
type bucketInfo struct {
	name    string
	created time.Time
}

// buckets returns all buckets, ordered by name.
func (s *store) buckets() ([]bucketInfo, error) {
	entries, err := os.ReadDir(s.root)
	if err != nil {
		return nil, s.storageError(err)
	}
	var buckets []bucketInfo
	for _, e := range entries {
		if !isBucketName(e.Name()) || !e.IsDir() {
			continue
		}
		created, err := s.creationDate(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return nil, s.storageError(err)
		}
		buckets = append(buckets, bucketInfo{e.Name(), created.UTC()})
	}
	return buckets, nil
}

// bucketList is the response of ListBuckets.
type bucketList struct {
	XMLName           xml.Name        `xml:"ListAllMyBucketsResult"`
	Xmlns             string          `xml:"xmlns,attr"`
	Buckets           []bucketElement `xml:"Buckets>Bucket"`
	Owner             person
	ContinuationToken string `xml:",omitempty"`
	Prefix            string `xml:",omitempty"`
}

type bucketElement struct {
	Name         string
	CreationDate string
	BucketRegion string `xml:",omitempty"`
}

// mostBuckets is the maximum of max-buckets, and its default.
const mostBuckets = 10000

// listBuckets implements ListBuckets: it lists the buckets that the caller owns.
func (s *store) listBuckets(c *call) (any, error) {
	limit, err := c.number("max-buckets", math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if c.query.Get("max-buckets") == "" {
		limit = mostBuckets
	}
	if limit < 1 || limit > mostBuckets {
		return nil, invalidArgument("max-buckets", c.query.Get("max-buckets"), "Argument max-buckets must be an integer between 1 and 10000")
	}
	after := ""
	if token := c.query.Get("continuation-token"); token != "" {
		if after, err = tokenMarker(token); err != nil {
			return nil, err
		}
	}
	all, err := s.buckets()
	if err != nil {
		return nil, err
	}
	paged := c.query.Has("max-buckets") || c.query.Has("prefix") || c.query.Has("bucket-region")
	out := bucketList{Xmlns: namespace, Owner: person{ID: s.canonicalID(c.caller.account)}, Prefix: c.query.Get("prefix")}
	for _, b := range all {
		if b.name <= after || !strings.HasPrefix(b.name, out.Prefix) {
			continue
		}
		kept, err := s.settingsOf(b.name)
		if err != nil {
			return nil, s.storageError(err)
		}
		region := kept[regionSetting]
		if region == "" {
			region = s.region
		}
		if !s.owns(c.caller, kept[ownerSetting]) || c.query.Has("bucket-region") && c.query.Get("bucket-region") != region {
			continue
		}
		if int64(len(out.Buckets)) == limit {
			out.ContinuationToken = pageToken(out.Buckets[limit-1].Name)
			break
		}
		e := bucketElement{Name: b.name, CreationDate: shownTime(b.created)}
		if paged {
			e.BucketRegion = region
		}
		out.Buckets = append(out.Buckets, e)
	}
	return out, nil
}

// bucketExists reports whether a bucket exists. An invalid name never reaches the file system.
func (s *store) bucketExists(bucket string) (bool, error) {
	if !isBucketName(bucket) {
		return false, nil
	}
	info, err := os.Stat(s.bucketDir(bucket))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), s.storageError(err)
}

func (s *store) requireBucket(bucket string) error {
	exists, err := s.bucketExists(bucket)
	if err == nil && !exists {
		return noSuchBucket(bucket)
	}
	return err
}

// location is the response of GetBucketLocation.
type location struct {
	XMLName xml.Name `xml:"LocationConstraint"`
	Xmlns   string   `xml:"xmlns,attr"`
	Region  string   `xml:",chardata"`
}

// regionOf returns the region of a bucket.
func (s *store) regionOf(bucket string) (string, error) {
	all, err := s.settingsOf(bucket)
	if r := all[regionSetting]; r != "" {
		return r, nil
	}
	return s.region, s.storageError(err)
}

func (s *store) getBucketLocation(c *call) (any, error) {
	r, err := s.regionOf(c.bucket)
	if r == DefaultRegion { // it has no name here
		r = ""
	}
	return location{Xmlns: namespace, Region: r}, err
}

func (s *store) headBucket(c *call) (any, error) {
	r, err := s.regionOf(c.bucket)
	c.header.Set("X-Amz-Bucket-Region", r)
	c.header.Set("X-Amz-Access-Point-Alias", "false")
	c.header.Set("Content-Type", "application/xml")
	if err == nil {
		c.w.WriteHeader(http.StatusOK)
	}
	return written{}, err
}

// deleteBucket implements DeleteBucket: the bucket must be empty.
func (s *store) deleteBucket(c *call) (any, error) { return nil, s.DeleteBucket(c.bucket) }

// DeleteBucket deletes an empty bucket.
func (s *store) DeleteBucket(bucket string) error {
	defer s.turns.take(bucket)()
	empty := true
	w := walker{visit: func(string, string) (bool, error) { empty = false; return false, nil }}
	if _, err := w.dir(s.bucketDir(bucket), ""); err != nil {
		return s.storageError(err)
	}
	if old, err := s.shelves(bucket); err != nil {
		return s.storageError(err)
	} else if len(old) > 0 {
		empty = false
	}
	if !empty {
		return fail("BucketNotEmpty", "The bucket you tried to delete is not empty", members{"BucketName": bucket})
	}
	return s.storageError(s.removeBucket(bucket))
}

func (s *store) removeBucket(bucket string) error {
	s.forgetSettings(bucket)
	for _, dir := range []string{s.metaDir(bucket), s.versionsDir(bucket)} {
		known, err := s.files.Below(dir)
		if err == nil {
			err = s.files.Forget(known...)
		}
		if err != nil {
			return err
		}
	}
	if err := os.RemoveAll(s.versionsDir(bucket)); err != nil {
		return err
	}
	if err := os.RemoveAll(s.bucketDir(bucket)); err != nil {
		return err
	}
	return os.RemoveAll(s.metaDir(bucket))
}
