package s3

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// ListParts returns the parts of an upload whose numbers are greater than the marker.
func (s *store) ListParts(bucket, key string, id gofakes3.UploadID, marker int,
	limit int64) (*gofakes3.ListMultipartUploadPartsResult, error) {
	if _, err := s.upload(bucket, key, id); err != nil {
		return nil, err
	}
	parts, err := s.parts(id)
	if err != nil {
		return nil, s.storageError(err)
	}
	result := &gofakes3.ListMultipartUploadPartsResult{
		Bucket: bucket, Key: key, UploadID: id, StorageClass: gofakes3.StorageStandard,
		PartNumberMarker: marker, MaxParts: limit,
	}
	for _, p := range parts {
		if p.number <= marker {
			continue
		}
		if int64(len(result.Parts)) == limit {
			result.IsTruncated = true
			break
		}
		result.NextPartNumberMarker = p.number
		result.Parts = append(result.Parts, gofakes3.ListMultipartUploadPartItem{
			PartNumber: p.number, ETag: quoted(p.etag), Size: p.size, LastModified: gofakes3.NewContentTime(p.modified),
		})
	}
	return result, nil
}

// ListMultipartUploads returns the uploads in progress, ordered by key and then by start time.
func (s *store) ListMultipartUploads(bucket string, marker *gofakes3.UploadListMarker, prefix gofakes3.Prefix,
	limit int64) (*gofakes3.ListMultipartUploadsResult, error) {
	uploads, err := s.uploads(bucket, prefix.Prefix)
	if err != nil {
		return nil, s.storageError(err)
	}
	result := &gofakes3.ListMultipartUploadsResult{Bucket: bucket, Prefix: prefix.Prefix, Delimiter: prefix.Delimiter,
		MaxUploads: limit}
	if marker != nil {
		result.KeyMarker, result.UploadIDMarker = marker.Object, marker.UploadID
		uploads = uploadsAfter(uploads, *marker)
	}
	seen := map[string]bool{}
	for _, u := range uploads {
		common, rolled := commonPrefix(u.Key, prefix)
		if rolled && seen[common] {
			continue
		}
		if int64(len(result.Uploads)+len(result.CommonPrefixes)) == limit {
			result.IsTruncated = true
			break
		}
		result.NextKeyMarker, result.NextUploadIDMarker = u.Key, u.ID
		if rolled {
			seen[common] = true
			result.CommonPrefixes = append(result.CommonPrefixes, gofakes3.CommonPrefix{Prefix: common})
			continue
		}
		result.Uploads = append(result.Uploads, gofakes3.ListMultipartUploadItem{
			Key: u.Key, UploadID: u.ID, StorageClass: gofakes3.StorageStandard,
			Initiated: gofakes3.NewContentTime(u.Initiated),
		})
	}
	return result, nil
}

// uploadsAfter returns the uploads after the marker, without those of earlier pages.
func uploadsAfter(uploads []upload, marker gofakes3.UploadListMarker) []upload {
	for i, u := range uploads {
		if u.Key > marker.Object {
			return uploads[i:]
		}
		if u.Key == marker.Object && u.ID == marker.UploadID {
			return uploads[i+1:]
		}
	}
	return nil
}

func (s *store) uploads(bucket, prefix string) ([]upload, error) {
	entries, err := os.ReadDir(s.uploadsDir())
	if err != nil {
		return nil, err
	}
	var uploads []upload
	for _, e := range entries {
		u, err := s.readUpload(gofakes3.UploadID(e.Name()))
		if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchUpload) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if u.Bucket == bucket && strings.HasPrefix(u.Key, prefix) {
			uploads = append(uploads, u)
		}
	}
	slices.SortFunc(uploads, func(a, b upload) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), a.Initiated.Compare(b.Initiated))
	})
	return uploads, nil
}
