package csvimport

import (
	"fmt"
	"strings"

	"stepback/retry"
)

// Source is one version of an uploaded file, as identified in S3's Object Created event. Its three fields are the
// part of every idempotency key that stands for the file. The same content under another key, or new content under
// the same key, is therefore a different file.
type Source struct {
	Bucket string `json:"bucket"`
	Key    string `json:"key"`
	ETag   string `json:"etag"` // without quotes
}

// String returns the file's s3:// address.
func (s Source) String() string { return fmt.Sprintf("s3://%s/%s", s.Bucket, s.Key) }

// Normal returns s without the quotes that S3 writes around an ETag, so that both spellings mean the same file.
func (s Source) Normal() Source {
	s.ETag = UnquoteETag(s.ETag)
	return s
}

// Check fails with InvalidInput if a field is missing.
func (s Source) Check() error {
	var missing []string
	for _, part := range []struct{ name, value string }{{"bucket", s.Bucket}, {"key", s.Key}, {"etag", s.ETag}} {
		if part.value == "" {
			missing = append(missing, "source."+part.name)
		}
	}
	if len(missing) > 0 {
		return Fail(retry.InvalidInput,
			"the event lacks %s; expected \"source\":{\"bucket\":…,\"key\":…,\"etag\":…} of the uploaded object",
			strings.Join(missing, ", "))
	}
	return nil
}

// UnquoteETag removes the quotes around an ETag.
func UnquoteETag(etag string) string { return strings.Trim(etag, `"`) }

// Location is the bucket and key of an object.
type Location struct {
	Bucket string `json:"bucket"`
	Key    string `json:"key"`
}

// String returns the location's s3:// address.
func (l Location) String() string { return fmt.Sprintf("s3://%s/%s", l.Bucket, l.Key) }

// JoinKey joins prefix and name with exactly one slash between them.
func JoinKey(prefix, name string) string {
	if prefix == "" || strings.HasSuffix(prefix, "/") {
		return prefix + name
	}
	return prefix + "/" + name
}
