package s3

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"stepback/aws/model"
)

// TestCoverageIsTrue requests every operation of S3's model by method, path and sub-resource: those that are not
// listed must respond with 501 or 405, the others must not.
func TestCoverageIsTrue(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(operations) {
		t.Error("operations is not sorted")
	}
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	m, err := model.Find("s3")
	if err != nil {
		t.Fatal(err)
	}
	for name := range partly {
		if !slices.Contains(operations, name) {
			t.Errorf("partly: %s is not served", name)
		}
	}
	for _, name := range m.Operations() {
		if name == "ListDirectoryBuckets" {
			continue // the same request as ListBuckets, with another host
		}
		o, err := m.Operation(name)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.NewReplacer("{Bucket}", "bucket", "{Key+}", "key").Replace(o.Path)
		r := httptest.NewRequestWithContext(t.Context(), o.Method, path, strings.NewReader("<x/>"))
		query := r.URL.Query()
		for _, member := range o.Input.Members {
			if member.Required && member.Location == model.InQuery {
				query.Set(member.LocationName, "1")
			}
			if member.Required && member.LocationName == "x-amz-copy-source" {
				r.Header.Set("X-Amz-Copy-Source", "bucket/other")
			}
		}
		r.URL.RawQuery = query.Encode()
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		served := w.Code != http.StatusNotImplemented && w.Code != http.StatusMethodNotAllowed
		if want := slices.Contains(operations, name); served != want {
			t.Errorf("%s %s %s?%s: status %d, in the table: %t: %s", name, o.Method, path, r.URL.RawQuery, w.Code, want, w.Body)
		}
	}
}
