package s3

import (
	"encoding/xml"
	"net/http"
	"strings"
)

// attributes is the response of GetObjectAttributes.
type attributes struct {
	XMLName      xml.Name `xml:"GetObjectAttributesResponse"`
	Xmlns        string   `xml:"xmlns,attr"`
	ETag         string   `xml:",omitempty"`
	Checksum     *checksumElement
	StorageClass string `xml:",omitempty"`
	ObjectSize   *int64 `xml:",omitempty"`
}

// checksumElement encodes a checksum in an element named after its algorithm.
type checksumElement struct {
	Value        namedElement
	ChecksumType string
}

type namedElement struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
}

// objectAttributes implements GetObjectAttributes. The number of parts of an upload is not stored.
func (s *store) objectAttributes(c *call) (any, error) {
	f, v, err := s.openVersion(c.bucket, c.key)
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	c.header.Set("Last-Modified", v.Modified.Format(http.TimeFormat))
	out := attributes{Xmlns: namespace}
	for _, line := range c.Header.Values("X-Amz-Object-Attributes") {
		for name := range strings.SplitSeq(line, ",") {
			out.add(strings.TrimSpace(name), v)
		}
	}
	return out, nil
}

func (a *attributes) add(name string, v version) {
	switch name {
	case "ETag":
		a.ETag = v.ETag
	case "Checksum":
		if sum := v.Checksum; sum != nil {
			a.Checksum = &checksumElement{namedElement{xml.Name{Local: "Checksum" + sum.Algorithm}, sum.Value},
				sum.Type}
		}
	case "StorageClass":
		a.StorageClass = "STANDARD"
	case "ObjectSize":
		a.ObjectSize = &v.Size
	}
}
