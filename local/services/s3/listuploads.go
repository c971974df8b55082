package s3

import (
	"cmp"
	"encoding/xml"
)

// partList is the response of ListParts.
type partList struct {
	XMLName              xml.Name `xml:"ListPartsResult"`
	Xmlns                string   `xml:"xmlns,attr"`
	Bucket               string
	Key                  string
	UploadID             string `xml:"UploadId"`
	PartNumberMarker     int64
	NextPartNumberMarker int
	MaxParts             int64
	IsTruncated          bool
	Part                 []partElement
	Initiator            person
	Owner                person
	StorageClass         string
	ChecksumAlgorithm    string `xml:",omitempty"`
	ChecksumType         string `xml:",omitempty"`
}

type partElement struct {
	PartNumber   int
	LastModified string
	ETag         string
	Size         int64
	Checksum     *namedElement
}

// listParts implements ListParts.
func (s *store) listParts(c *call) (any, error) {
	u, err := s.upload(c.bucket, c.key, c.query.Get("uploadId"))
	if err != nil {
		return nil, err
	}
	limit, err := c.number("max-parts", maxKeys)
	if err != nil {
		return nil, err
	}
	marker := int64(0)
	if c.query.Get("part-number-marker") != "" {
		if marker, err = c.number("part-number-marker", 1<<31-1); err != nil {
			return nil, err
		}
	}
	parts, err := s.parts(u.ID)
	if err != nil {
		return nil, s.storageError(err)
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	initiator, of := s.people(&u, owner)
	out := partList{Xmlns: namespace, Bucket: c.bucket, Key: c.key, UploadID: u.ID, PartNumberMarker: marker,
		MaxParts:  limit,
		Initiator: initiator, Owner: of, StorageClass: cmp.Or(u.StorageClass, standard)}
	if u.Algorithm != "" {
		out.ChecksumAlgorithm, out.ChecksumType = u.Algorithm, u.checksumType()
	}
	for _, p := range parts {
		if int64(p.number) <= marker {
			continue
		}
		if int64(len(out.Part)) == limit {
			out.IsTruncated = true
			break
		}
		out.NextPartNumberMarker = p.number
		e := partElement{PartNumber: p.number, ETag: quoted(p.etag), Size: p.size, LastModified: shownTime(p.modified)}
		if p.sum != "" {
			sum := sumElement(u.Algorithm, p.sum)
			e.Checksum = &sum
		}
		out.Part = append(out.Part, e)
	}
	return out, nil
}

// uploadList is the response of ListMultipartUploads.
type uploadList struct {
	XMLName            xml.Name `xml:"ListMultipartUploadsResult"`
	Xmlns              string   `xml:"xmlns,attr"`
	Bucket             string
	KeyMarker          string
	UploadIDMarker     string `xml:"UploadIdMarker"`
	NextKeyMarker      string `xml:",omitempty"`
	NextUploadIDMarker string `xml:"NextUploadIdMarker,omitempty"`
	Prefix             string
	Delimiter          string `xml:",omitempty"`
	EncodingType       string `xml:",omitempty"`
	MaxUploads         int64
	IsTruncated        bool
	Upload             []uploadElement
	CommonPrefixes     []commonPrefixElement
}

type uploadElement struct {
	Key               string
	UploadID          string `xml:"UploadId"`
	Initiator         person
	Owner             person
	StorageClass      string
	Initiated         string
	ChecksumAlgorithm string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
}

// listMultipartUploads implements ListMultipartUploads. The uploads are ordered by key and then by start time.
func (s *store) listMultipartUploads(c *call) (any, error) {
	q := c.query
	limit, err := c.number("max-uploads", maxKeys)
	if err != nil {
		return nil, err
	}
	if err := checkEncoding(q.Get("encoding-type")); err != nil {
		return nil, err
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	uploads, err := s.uploads(c.bucket, q.Get("prefix"))
	if err != nil {
		return nil, s.storageError(err)
	}
	out := uploadList{
		Xmlns:        namespace,
		Bucket:       c.bucket,
		Prefix:       q.Get("prefix"),
		Delimiter:    q.Get("delimiter"),
		MaxUploads:   limit,
		KeyMarker:    q.Get("key-marker"),
		EncodingType: q.Get("encoding-type"),
	}
	if out.KeyMarker != "" {
		out.UploadIDMarker = q.Get("upload-id-marker")
		uploads = uploadsAfter(uploads, out.KeyMarker, out.UploadIDMarker)
	}
	shown := func(key string) string {
		if out.EncodingType == "url" {
			return encodeKey(key)
		}
		return key
	}
	seen := map[string]bool{}
	for _, u := range uploads {
		common, rolled := commonPrefix(u.Key, q.Get("prefix"), q.Get("delimiter"))
		if rolled && seen[common] {
			continue
		}
		if int64(len(out.Upload)+len(out.CommonPrefixes)) == limit {
			out.IsTruncated = true
			break
		}
		out.NextKeyMarker, out.NextUploadIDMarker = shown(u.Key), u.ID
		if rolled {
			seen[common] = true
			out.CommonPrefixes = append(out.CommonPrefixes, commonPrefixElement{shown(common)})
			continue
		}
		initiator, of := s.people(&u, owner)
		e := uploadElement{Key: shown(u.Key), UploadID: u.ID, StorageClass: cmp.Or(u.StorageClass, standard),
			Initiated: shownTime(u.Initiated), Initiator: initiator, Owner: of}
		if u.Algorithm != "" {
			e.ChecksumAlgorithm, e.ChecksumType = u.Algorithm, u.checksumType()
		}
		out.Upload = append(out.Upload, e)
	}
	out.Prefix, out.Delimiter, out.KeyMarker = shown(out.Prefix), shown(out.Delimiter), shown(out.KeyMarker)
	return out, nil
}

// uploadsAfter returns the uploads after those of earlier pages. Without an ID, those are all uploads of the key.
func uploadsAfter(uploads []upload, key, id string) []upload {
	for i, u := range uploads {
		if u.Key > key {
			return uploads[i:]
		}
		if u.Key == key && u.ID == id {
			return uploads[i+1:]
		}
	}
	return nil
}
