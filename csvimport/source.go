package csvimport

import (
	"fmt"
	"strings"

	"stepback/retry"
)

// Source is one version of one uploaded file, as S3's Object Created event names it. The three together are the file's
// part of every idempotency key: the same content under another key, or new content under the same key, is another
// file.
type Source struct {
	Bucket string `json:"bucket"`
	Key    string `json:"key"`
	ETag   string `json:"etag"` // without quotes
}

// String is the file as an s3:// address.
func (s Source) String() string { return fmt.Sprintf("s3://%s/%s", s.Bucket, s.Key) }

// Normal is s with the quotes that S3 writes around an ETag removed, so that both spellings are one file.
func (s Source) Normal() Source {
	s.ETag = UnquoteETag(s.ETag)
	return s
}

// Check fails with InvalidInput when a part is missing.
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

// Location is where an object is.
type Location struct {
	Bucket string `json:"bucket"`
	Key    string `json:"key"`
}

// String is the location as an s3:// address.
func (l Location) String() string { return fmt.Sprintf("s3://%s/%s", l.Bucket, l.Key) }

// JoinKey puts name under prefix with exactly one slash between them.
func JoinKey(prefix, name string) string {
	if prefix == "" || strings.HasSuffix(prefix, "/") {
		return prefix + name
	}
	return prefix + "/" + name
}
