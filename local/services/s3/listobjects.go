package s3

import (
	"encoding/base64"
	"encoding/xml"
	"net/url"
	"strings"

	"github.com/johannesboyne/gofakes3"
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
	Contents              []*gofakes3.Content
	CommonPrefixes        []gofakes3.CommonPrefix
}

// listObjects implements ListObjects, and ListObjectsV2 with list-type=2. Keys that XML cannot represent require
// encoding-type=url.
func (s *store) listObjects(c *call) (any, error) {
	q := c.query
	prefix := gofakes3.Prefix{Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter")}
	limit, err := c.number("max-keys", maxKeys)
	if err != nil {
		return nil, err
	}
	second := q.Get("list-type") == "2"
	page := gofakes3.ListBucketPage{MaxKeys: limit, Marker: q.Get("marker")}
	if second {
		if page.Marker, err = markerOf(q); err != nil {
			return nil, err
		}
	}
	found, err := s.ListBucket(c.bucket, &prefix, page)
	if err != nil {
		return nil, err
	}
	list := &objectList{
		Xmlns: namespace, Name: c.bucket, Prefix: prefix.Prefix, Delimiter: prefix.Delimiter, MaxKeys: limit,
		EncodingType: q.Get("encoding-type"), IsTruncated: found.IsTruncated, Contents: found.Contents,
		CommonPrefixes: found.CommonPrefixes,
	}
	if second {
		count := len(found.Contents) + len(found.CommonPrefixes)
		list.KeyCount, list.StartAfter, list.ContinuationToken = &count, q.Get("start-after"),
			q.Get("continuation-token")
		if found.NextMarker != "" {
			list.NextContinuationToken = base64.URLEncoding.EncodeToString([]byte(found.NextMarker))
		}
	} else {
		list.Marker = &page.Marker
		if prefix.Delimiter != "" { // without a delimiter the last key is the next marker
			list.NextMarker = found.NextMarker
		}
	}
	return list, list.encodeKeys()
}

// markerOf returns the key after which a page of ListObjectsV2 starts.
func markerOf(q url.Values) (string, error) {
	if !q.Has("continuation-token") {
		return q.Get("start-after"), nil
	}
	token := q.Get("continuation-token")
	marker, err := base64.URLEncoding.DecodeString(token)
	if err != nil || token == "" {
		return "", gofakes3.ErrorInvalidArgument("continuation-token", token,
			"The continuation token provided is incorrect")
	}
	return string(marker), nil
}

// encodeKeys encodes keys in the encoding that the client requested.
func (l *objectList) encodeKeys() error {
	switch l.EncodingType {
	case "":
		return nil
	case "url":
	default:
		return gofakes3.ErrorInvalidArgument("encoding-type", l.EncodingType,
			"Invalid Encoding Method specified in Request")
	}
	for _, text := range []*string{&l.Prefix, &l.Delimiter, &l.NextMarker, &l.StartAfter, l.Marker} {
		if text != nil {
			*text = encodeKey(*text)
		}
	}
	for _, content := range l.Contents {
		content.Key = encodeKey(content.Key)
	}
	for i := range l.CommonPrefixes {
		l.CommonPrefixes[i].Prefix = encodeKey(l.CommonPrefixes[i].Prefix)
	}
	return nil
}

// encodeKey escapes everything except letters, digits, - _ . ~ and slashes.
func encodeKey(key string) string { return slashesAndSpaces.Replace(url.QueryEscape(key)) }

var slashesAndSpaces = strings.NewReplacer("%2F", "/", "+", "%20")
