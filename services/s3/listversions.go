package s3

import (
	"encoding/xml"

	"github.com/johannesboyne/gofakes3"
)

// versionList is the answer of ListObjectVersions.
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
	CommonPrefixes      []gofakes3.CommonPrefix
}

type listedVersion struct {
	gofakes3.Content
	VersionID string `xml:"VersionId"`
	IsLatest  bool
}

// nullVersion is the only version that an object has in a bucket without versions.
const nullVersion = "null"

// listVersions is ListObjectVersions, with which clients empty buckets: each object has one version.
func (s *store) listVersions(c *call) (any, error) {
	q := c.query
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
