package s3

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// versionList is the response of ListObjectVersions.
type versionList struct {
	XMLName             xml.Name `xml:"ListVersionsResult"`
	Xmlns               string   `xml:"xmlns,attr"`
	Name                string
	Prefix              string
	Delimiter           string `xml:",omitempty"`
	KeyMarker           string
	VersionIDMarker     string `xml:"VersionIdMarker"`
	NextKeyMarker       string `xml:",omitempty"`
	NextVersionIDMarker string `xml:"NextVersionIdMarker,omitempty"`
	MaxKeys             int64
	EncodingType        string `xml:",omitempty"`
	IsTruncated         bool
	Version             []listedVersion
	DeleteMarker        []listedMarker
	CommonPrefixes      []gofakes3.CommonPrefix
}

type listedVersion struct {
	gofakes3.Content
	VersionID string `xml:"VersionId"`
	IsLatest  bool
}

type listedMarker struct {
	Key          string
	VersionID    string `xml:"VersionId"`
	IsLatest     bool
	LastModified gofakes3.ContentTime
}

// nullVersion is the ID of an object's only version in a bucket without versioning.
const nullVersion = "null"

// listVersions implements ListObjectVersions, which clients use to empty buckets: in a bucket that never had
// versioning, each object has one version.
func (s *store) listVersions(c *call) (any, error) {
	q := c.query
	old, err := s.shelves(c.bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	status, err := s.versioningOf(c.bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	if status != "" || len(old) > 0 {
		return s.listAllVersions(c, old)
	}
	q.Set("marker", q.Get("key-marker"))
	q.Del("list-type")
	answer, err := s.listObjects(c)
	if err != nil {
		return nil, err
	}
	found := answer.(*objectList)
	list := versionList{
		Xmlns: namespace, Name: found.Name, Prefix: found.Prefix, Delimiter: found.Delimiter, KeyMarker: *found.Marker,
		VersionIDMarker: q.Get("version-id-marker"), MaxKeys: found.MaxKeys, EncodingType: found.EncodingType,
		IsTruncated: found.IsTruncated, CommonPrefixes: found.CommonPrefixes,
	}
	for _, content := range found.Contents {
		list.Version = append(list.Version, listedVersion{*content, nullVersion, true})
		if found.IsTruncated {
			list.NextKeyMarker = content.Key
		}
	}
	if found.NextMarker != "" {
		list.NextKeyMarker = found.NextMarker
	}
	if list.IsTruncated {
		list.NextVersionIDMarker = nullVersion
	}
	return list, nil
}

// listAllVersions lists the versions of a bucket that has versioning or once had it, ordered by key, newest first.
func (s *store) listAllVersions(c *call, old []shelf) (any, error) {
	q := c.query
	limit, err := c.number("max-keys", maxKeys)
	if err != nil {
		return nil, err
	}
	list := &versionList{
		Xmlns: namespace, Name: c.bucket, Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"),
		KeyMarker: q.Get("key-marker"), VersionIDMarker: q.Get("version-id-marker"), MaxKeys: limit,
		EncodingType: q.Get("encoding-type"),
	}
	rows, err := s.versionRows(c.bucket, list.Prefix, old)
	if err != nil {
		return nil, s.storageError(err)
	}
	prefix := gofakes3.Prefix{Prefix: list.Prefix, Delimiter: list.Delimiter}
	behind, last, n := list.KeyMarker == "", "", int64(0)
	for _, r := range rows {
		id := shownID(r.ID)
		common, rolled := commonPrefix(r.key, prefix)
		if !behind {
			behind = r.key > list.KeyMarker && (!rolled || common != list.KeyMarker)
			if r.key == list.KeyMarker && id == list.VersionIDMarker {
				behind = true
				continue
			}
			if !behind {
				continue
			}
		}
		if rolled && common == last {
			continue
		}
		if n == limit {
			list.IsTruncated = limit > 0
			break
		}
		n++
		if rolled {
			last = common
			list.CommonPrefixes = append(list.CommonPrefixes, gofakes3.CommonPrefix{Prefix: common})
			list.NextKeyMarker, list.NextVersionIDMarker = common, ""
			continue
		}
		list.NextKeyMarker, list.NextVersionIDMarker = r.key, id
		at := gofakes3.NewContentTime(r.Modified)
		if r.Marker {
			list.DeleteMarker = append(list.DeleteMarker, listedMarker{list.shown(r.key), id, r.latest, at})
			continue
		}
		list.Version = append(list.Version, listedVersion{gofakes3.Content{Key: list.shown(r.key), Size: r.Size,
			ETag: quoted(r.ETag), StorageClass: gofakes3.StorageStandard, LastModified: at}, id, r.latest})
	}
	if !list.IsTruncated {
		list.NextKeyMarker, list.NextVersionIDMarker = "", ""
	}
	return list, nil
}

// shown returns a key in the encoding that the client requested.
func (l *versionList) shown(key string) string {
	if l.EncodingType == "url" {
		return encodeKey(key)
	}
	return key
}

// versionRow is a version in a listing.
type versionRow struct {
	entry
	key    string
	latest bool
}

// versionRows returns all versions of the keys with a prefix.
func (s *store) versionRows(bucket, prefix string, old []shelf) ([]versionRow, error) {
	var rows []versionRow
	current := map[string]string{} // IDs by key
	w := walker{prefix: prefix, visit: func(key, _ string) (bool, error) {
		v, err := s.current(bucket, key)
		if err == nil && v != nil {
			current[key] = v.ID
			rows = append(rows, versionRow{entry{version: *v}, key, true})
		}
		return true, err
	}}
	if _, err := w.dir(s.bucketDir(bucket), ""); err != nil {
		return nil, err
	}
	for _, h := range old {
		if !strings.HasPrefix(h.Key, prefix) {
			continue
		}
		id, there := current[h.Key]
		for i, e := range h.Entries {
			if !there || e.ID != id { // a crash may have left it in both places
				rows = append(rows, versionRow{e, h.Key, !there && i == 0})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b versionRow) int { return strings.Compare(a.key, b.key) })
	return rows, nil
}
