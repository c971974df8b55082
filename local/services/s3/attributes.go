package s3

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// attributes is the response of GetObjectAttributes.
type attributes struct {
	XMLName      xml.Name `xml:"GetObjectAttributesResponse"`
	Xmlns        string   `xml:"xmlns,attr"`
	ETag         string   `xml:",omitempty"`
	Checksum     *checksumElements
	ObjectParts  *partsElement
	StorageClass string `xml:",omitempty"`
	ObjectSize   *int64 `xml:",omitempty"`
}

type partsElement struct {
	TotalPartsCount      int   `xml:"PartsCount"`
	PartNumberMarker     int64 `xml:",omitempty"`
	NextPartNumberMarker int   `xml:",omitempty"`
	MaxParts             int64 `xml:",omitempty"`
	IsTruncated          bool
	Part                 []attributePart
}

type attributePart struct {
	PartNumber int
	Size       int64
	Checksum   *namedElement
}

// attributeNames lists the attributes that can be requested.
var attributeNames = []string{"ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"}

// getObjectAttributes implements GetObjectAttributes.
func (s *store) getObjectAttributes(c *call) (any, error) {
	f, v, err := s.openCalled(c)
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	if err := v.requireKey(c.Header, &customerHeaders); err != nil {
		return nil, err
	}
	c.header.Set("Last-Modified", v.Modified.Format(http.TimeFormat))
	c.showVersion(&v)
	out := attributes{Xmlns: namespace}
	names := strings.FieldsFunc(strings.Join(c.Header.Values("X-Amz-Object-Attributes"), ","), func(r rune) bool { return r == ',' || r == ' ' })
	if len(names) == 0 {
		return nil, invalidArgument("x-amz-object-attributes", "", "The x-amz-object-attributes header specifying the attributes to be retrieved is either missing or empty")
	}
	for _, name := range names {
		if !slices.Contains(attributeNames, name) {
			return nil, invalidArgument("x-amz-object-attributes", name, "Invalid attribute name specified.")
		}
		if err := out.add(name, &v, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *attributes) add(name string, v *version, c *call) error {
	switch name {
	case "ETag":
		a.ETag = v.ETag
	case "Checksum":
		a.Checksum = v.Checksum.elements()
		if a.Checksum != nil {
			a.Checksum.Value.Text, _, _ = strings.Cut(a.Checksum.Value.Text, "-")
		}
	case "StorageClass":
		a.StorageClass = class(v)
	case "ObjectSize":
		a.ObjectSize = &v.Size
	case "ObjectParts":
		if len(v.Parts) > 0 {
			return a.addParts(v, c)
		}
	}
	return nil
}

// addParts adds a page of an object's parts.
func (a *attributes) addParts(v *version, c *call) error {
	p := &partsElement{TotalPartsCount: len(v.Parts), MaxParts: maxKeys}
	a.ObjectParts = p
	for header, to := range map[string]*int64{"X-Amz-Max-Parts": &p.MaxParts, "X-Amz-Part-Number-Marker": &p.PartNumberMarker} {
		if text := c.Header.Get(header); text != "" {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 0 {
				return invalidArgument(strings.ToLower(header), text, "Argument must be an integer between 0 and 2147483647")
			}
			*to = n
		}
	}
	for _, one := range v.Parts {
		if int64(one.Number) <= p.PartNumberMarker {
			continue
		}
		if int64(len(p.Part)) == p.MaxParts {
			p.IsTruncated = true
			break
		}
		p.NextPartNumberMarker = one.Number
		e := attributePart{PartNumber: one.Number, Size: one.Size}
		if one.Checksum != "" {
			sum := sumElement(v.Checksum.Algorithm, one.Checksum)
			e.Checksum = &sum
		}
		p.Part = append(p.Part, e)
	}
	return nil
}
