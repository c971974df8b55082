package s3

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"hash/crc32"
	"net/url"
	"os"
	"slices"
	"strings"
)

// maxKeys is the maximum number of keys and common prefixes per response.
const maxKeys = 1000

// objectList is the response of ListObjects and ListObjectsV2. Members of only one of the two are pointers.
type objectList struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	Xmlns                 string   `xml:"xmlns,attr"`
	Name                  string
	Prefix                string
	Delimiter             string  `xml:",omitempty"`
	Marker                *string `xml:",omitempty"`
	NextMarker            string  `xml:",omitempty"`
	StartAfter            string  `xml:",omitempty"`
	ContinuationToken     string  `xml:",omitempty"`
	NextContinuationToken string  `xml:",omitempty"`
	KeyCount              *int    `xml:",omitempty"`
	MaxKeys               int64
	EncodingType          string `xml:",omitempty"`
	IsTruncated           bool
	Contents              []listedObject
	CommonPrefixes        []commonPrefixElement

	next string // key or common prefix that the list ends with, if it is truncated
}

type listedObject struct {
	Key               string
	LastModified      string
	ETag              string
	ChecksumAlgorithm string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
	Size              int64
	StorageClass      string
	Owner             *person        `xml:",omitempty"`
	RestoreStatus     *restoreStatus `xml:",omitempty"`
}

type restoreStatus struct {
	IsRestoreInProgress bool
	RestoreExpiryDate   string
}

type commonPrefixElement struct{ Prefix string }

// listObjects implements ListObjects, and ListObjectsV2 with list-type=2. Keys that XML cannot represent require
// encoding-type=url.
func (s *store) listObjects(c *call) (any, error) {
	limit, err := c.number("max-keys", maxKeys)
	if err != nil {
		return nil, err
	}
	q, second := c.query, c.operation == "ListObjectsV2"
	list := &objectList{
		Xmlns:        namespace,
		Name:         c.bucket,
		Prefix:       q.Get("prefix"),
		Delimiter:    q.Get("delimiter"),
		MaxKeys:      limit,
		EncodingType: q.Get("encoding-type"),
	}
	marker := q.Get("marker")
	if second {
		if marker, err = markerOf(q); err != nil {
			return nil, err
		}
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	p := listPage{
		store:  s,
		bucket: c.bucket,
		list:   list,
		restored: slices.Contains(
			strings.Split(c.Header.Get("X-Amz-Optional-Object-Attributes"), ","),
			"RestoreStatus",
		),
	}
	if !second || q.Get("fetch-owner") == "true" {
		p.owner = &person{ID: s.canonicalID(owner)}
	}
	if err := s.list(&p, marker); err != nil {
		return nil, err
	}
	if second {
		count := len(list.Contents) + len(list.CommonPrefixes)
		list.KeyCount, list.StartAfter, list.ContinuationToken = &count, q.Get(
			"start-after",
		), q.Get(
			"continuation-token",
		)
		if list.next != "" {
			list.NextContinuationToken = pageToken(list.next)
		}
	} else {
		list.Marker = &marker
		if list.Delimiter != "" { // without a delimiter the last key is the next marker
			list.NextMarker = list.next
		}
	}
	return list, list.encodeKeys()
}

// list fills a page with the keys after the marker.
func (s *store) list(p *listPage, marker string) error {
	if p.list.MaxKeys <= 0 {
		return nil
	}
	p.walker = walker{prefix: p.list.Prefix, after: marker, visit: p.visit}
	_, err := p.walker.dir(s.bucketDir(p.bucket), "")
	return s.storageError(err)
}

// listPage is a page of a list of objects while it is filled.
type listPage struct {
	store    *store
	walker   walker
	bucket   string
	owner    *person // nil if it is not listed
	restored bool    // the status of restored objects is listed
	last     string
	list     *objectList
	withIDs  bool
	ids      []string // IDs of the listed versions, if withIDs is true
}

func (p *listPage) visit(key, path string) (bool, error) {
	l := p.list
	common, rolled := commonPrefix(key, l.Prefix, l.Delimiter)
	if rolled && common == p.walker.after { // the previous page ended with it
		p.walker.skip = common
		return true, nil
	}
	if int64(len(l.Contents)+len(l.CommonPrefixes)) == l.MaxKeys {
		l.IsTruncated, l.next = true, p.last
		return false, nil
	}
	if rolled {
		l.CommonPrefixes = append(l.CommonPrefixes, commonPrefixElement{common})
		p.walker.skip, p.last = common, common
		return true, nil
	}
	v, err := p.store.content(p.bucket, key, path)
	if v != nil {
		o := listed(key, v)
		if o.Owner = p.owner; v.ACL != nil && p.owner != nil {
			o.Owner = &person{ID: p.store.canonicalID(v.ACL.Owner)}
		}
		if p.restored && v.Restored != nil {
			o.RestoreStatus = &restoreStatus{RestoreExpiryDate: shownTime(*v.Restored)}
		}
		l.Contents = append(l.Contents, o)
		if p.withIDs {
			p.ids = append(p.ids, v.ID)
		}
		p.last = key
	}
	return true, err
}

// listed returns the element of a version in a list.
func listed(key string, v *version) listedObject {
	o := listedObject{Key: key, Size: v.Size, ETag: quoted(v.ETag), StorageClass: class(v),
		LastModified: shownTime(v.Modified)}
	if v.Checksum != nil {
		o.ChecksumAlgorithm, o.ChecksumType = v.Checksum.Algorithm, v.Checksum.Type
	}
	return o
}

// commonPrefix returns the common prefix under which a list with a delimiter groups a key that starts with prefix.
func commonPrefix(key, prefix, delimiter string) (string, bool) {
	if delimiter == "" {
		return "", false
	}
	i := strings.Index(key[len(prefix):], delimiter)
	if i < 0 {
		return "", false
	}
	return key[:len(prefix)+i+len(delimiter)], true
}

// content describes one object of a list; it returns nil if the object has been removed in the meantime or is not a
// regular file.
func (s *store) content(bucket, key, path string) (*version, error) {
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
		if isCode(err, "NoSuchKey") {
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
	return &v, nil
}

// markerOf returns the key after which a page of ListObjectsV2 starts.
func markerOf(q url.Values) (string, error) {
	if !q.Has("continuation-token") {
		return q.Get("start-after"), nil
	}
	return tokenMarker(q.Get("continuation-token"))
}

// pageToken returns the token of the page that follows a marker: its CRC-32 and the marker, in Base64.
func pageToken(marker string) string {
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(marker)))
	return base64.URLEncoding.EncodeToString(append(sum, marker...))
}

// tokenMarker returns the marker of a token that pageToken returned.
func tokenMarker(token string) (string, error) {
	raw, err := base64.URLEncoding.DecodeString(token)
	if err != nil || len(raw) <= crc32.Size || binary.BigEndian.Uint32(raw) != crc32.ChecksumIEEE(raw[crc32.Size:]) {
		return "", invalidArgument("continuation-token", token, "The continuation token provided is incorrect")
	}
	return string(raw[crc32.Size:]), nil
}

// encodeKeys encodes keys in the encoding that the client requested.
func (l *objectList) encodeKeys() error {
	if err := checkEncoding(l.EncodingType); err != nil || l.EncodingType == "" {
		return err
	}
	for _, text := range []*string{&l.Prefix, &l.Delimiter, &l.NextMarker, &l.StartAfter, l.Marker} {
		if text != nil {
			*text = encodeKey(*text)
		}
	}
	for i := range l.Contents {
		l.Contents[i].Key = encodeKey(l.Contents[i].Key)
	}
	for i := range l.CommonPrefixes {
		l.CommonPrefixes[i].Prefix = encodeKey(l.CommonPrefixes[i].Prefix)
	}
	return nil
}

// checkEncoding returns an error for an unknown encoding of keys.
func checkEncoding(name string) error {
	if name != "" && name != "url" {
		return invalidArgument("encoding-type", name, "Invalid Encoding Method specified in Request")
	}
	return nil
}

// encodeKey escapes everything except letters, digits, - _ . ~ and slashes.
func encodeKey(key string) string { return slashesAndSpaces.Replace(url.QueryEscape(key)) }

var slashesAndSpaces = strings.NewReplacer("%2F", "/", "+", "%20")
