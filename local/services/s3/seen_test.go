package s3

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"stepback/local/services/inventory"
)

// TestReadsFollowChangesOfTheDescription checks that a description that was read before is not used after the object or
// the description has changed, even behind the service's back.
func TestReadsFollowChangesOfTheDescription(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	head := func() (http.Header, error) {
		w, _, err := perform(s, http.MethodHead, "k", nil, nil, http.NoBody, 0)
		return w.Header(), err
	}
	shows := func(name, want string) {
		t.Helper()
		for range 2 { // from the file, and from memory
			if h, err := head(); err != nil || h.Get(name) != want {
				t.Errorf("%s is %q, %v, not %q", name, h.Get(name), err, want)
			}
		}
	}
	mustPut(t, s, "k", "one")
	shows("ETag", `"f97c5d29941bfb1b2fdab0874906ab82"`)
	mustPut(t, s, "k", "two")
	shows("ETag", `"b8a9f715dbb64fd5c56e7783c6820a61"`)
	tags := `<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tagging>`
	if _, _, err := perform(s, http.MethodPut, "k", url.Values{"tagging": {""}}, nil, strings.NewReader(tags),
		int64(len(tags))); err != nil {
		t.Fatal(err)
	}
	shows("X-Amz-Tagging-Count", "1")
	path := s.recordPath("bucket", "k")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *inventory.DamagedError
	if _, err := s.describeNow("k"); !errors.As(err, &damaged) {
		t.Errorf("a description that was cut off is read: %v", err)
	}
}

// describeNow describes an object of the bucket "bucket" as a read does.
func (s *store) describeNow(key string) (version, error) {
	f, info, err := s.openObject("bucket", key)
	if err != nil {
		return version{}, err
	}
	defer f.Close()
	return s.describe("bucket", key, f, info)
}
