package s3

import (
	"encoding/xml"
	"slices"
	"strings"
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
	CommonPrefixes      []commonPrefixElement
}

type listedVersion struct {
	listedObject
	VersionID string `xml:"VersionId"`
	IsLatest  bool
}

type listedMarker struct {
	Key          string
	VersionID    string `xml:"VersionId"`
	IsLatest     bool
	LastModified string
	Owner        *person
}

// listVersions implements ListObjectVersions, which clients use to empty buckets: in a bucket that never had
// versioning, each object has one version.
func (s *store) listVersions(c *call) (any, error) {
	q := c.query
	limit, err := c.number("max-keys", maxKeys)
	if err != nil {
		return nil, err
	}
	if err := checkEncoding(q.Get("encoding-type")); err != nil {
		return nil, err
	}
	if q.Has("version-id-marker") && !q.Has("key-marker") {
		return nil, invalidArgument("version-id-marker", q.Get("version-id-marker"), "A version-id marker cannot be specified without a key marker.")
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	old, err := s.shelves(c.bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	list := &versionList{
		Xmlns: namespace, Name: c.bucket, Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"),
		KeyMarker: q.Get("key-marker"), VersionIDMarker: q.Get("version-id-marker"), MaxKeys: limit,
		EncodingType: q.Get("encoding-type"),
	}
	by := &person{ID: s.canonicalID(owner)}
	if len(old) == 0 {
		err = s.listOnlyVersions(c, list, by)
	} else {
		err = s.listAllVersions(c, list, old, by)
	}
	list.encodeKeys()
	return list, err
}

// listOnlyVersions lists a bucket in which each object has one version.
func (s *store) listOnlyVersions(c *call, list *versionList, by *person) error {
	found := &objectList{Prefix: list.Prefix, Delimiter: list.Delimiter, MaxKeys: list.MaxKeys}
	p := listPage{store: s, bucket: c.bucket, list: found, owner: by, withIDs: true}
	if err := s.list(&p, list.KeyMarker); err != nil {
		return err
	}
	list.CommonPrefixes, list.IsTruncated = found.CommonPrefixes, found.IsTruncated
	for i, o := range found.Contents {
		list.Version = append(list.Version, listedVersion{o, shownID(p.ids[i]), true})
	}
	if found.IsTruncated {
		list.NextKeyMarker = found.next
		if n := len(p.ids); n > 0 && found.Contents[n-1].Key == found.next {
			list.NextVersionIDMarker = shownID(p.ids[n-1])
		}
	}
	return nil
}

// listAllVersions lists the versions of a bucket that has several of an object, ordered by key, newest first.
func (s *store) listAllVersions(c *call, list *versionList, old []shelf, by *person) error {
	rows, err := s.versionRows(c.bucket, list.Prefix, old)
	if err != nil {
		return s.storageError(err)
	}
	behind, last, n := list.KeyMarker == "", "", int64(0)
	for _, r := range rows {
		id := shownID(r.ID)
		common, rolled := commonPrefix(r.key, list.Prefix, list.Delimiter)
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
		if n == list.MaxKeys {
			list.IsTruncated = list.MaxKeys > 0
			break
		}
		n++
		if rolled {
			last = common
			list.CommonPrefixes = append(list.CommonPrefixes, commonPrefixElement{common})
			list.NextKeyMarker, list.NextVersionIDMarker = common, ""
			continue
		}
		list.NextKeyMarker, list.NextVersionIDMarker = r.key, id
		if r.Marker {
			list.DeleteMarker = append(list.DeleteMarker, listedMarker{r.key, id, r.latest, shownTime(r.Modified), by})
			continue
		}
		o := listed(r.key, &r.version)
		o.Owner = by
		list.Version = append(list.Version, listedVersion{o, id, r.latest})
	}
	if !list.IsTruncated {
		list.NextKeyMarker, list.NextVersionIDMarker = "", ""
	}
	return nil
}

// encodeKeys encodes keys in the encoding that the client requested.
func (l *versionList) encodeKeys() {
	if l.EncodingType == "" {
		return
	}
	for _, text := range []*string{&l.Prefix, &l.Delimiter, &l.KeyMarker, &l.NextKeyMarker} {
		*text = encodeKey(*text)
	}
	for i := range l.Version {
		l.Version[i].Key = encodeKey(l.Version[i].Key)
	}
	for i := range l.DeleteMarker {
		l.DeleteMarker[i].Key = encodeKey(l.DeleteMarker[i].Key)
	}
	for i := range l.CommonPrefixes {
		l.CommonPrefixes[i].Prefix = encodeKey(l.CommonPrefixes[i].Prefix)
	}
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
