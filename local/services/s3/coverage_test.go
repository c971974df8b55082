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
		r := requestOf(t, o, "<x/>")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		served := w.Code != http.StatusNotImplemented && w.Code != http.StatusMethodNotAllowed
		if want := slices.Contains(operations, name); served != want {
			t.Errorf("%s %s %s?%s: status %d, in the table: %t: %s", name, o.Method, r.URL.Path, r.URL.RawQuery, w.Code, want, w.Body)
		}
	}
}

// requestOf returns a request for an operation, with the required members in the query.
func requestOf(t *testing.T, o *model.Operation, body string) *http.Request {
	t.Helper()
	path := strings.NewReplacer("{Bucket}", "bucket", "{Key+}", "key").Replace(o.Path)
	r := httptest.NewRequestWithContext(t.Context(), o.Method, path, strings.NewReader(body))
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
	return r
}

// TestHeadersOfTheModel sends every modelled header of every implemented operation: those that are refused must
// respond with 501, the others must not.
func TestHeadersOfTheModel(t *testing.T) {
	t.Parallel()
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
	sent := 0
	for _, c := range s.Coverage().Operations {
		if !slices.Contains(operations, c.Name) {
			continue
		}
		o, err := m.Operation(c.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range o.Input.Members {
			if member.Location != model.InHeader || strings.HasSuffix(member.Name, "BucketOwner") {
				continue
			}
			r := requestOf(t, o, "")
			value := "x"
			if member.LocationName == "If-None-Match" {
				value = "*" // S3 implements no other for writes
			}
			if rule := headerRules[strings.ToLower(member.LocationName)]; rule.values != nil {
				value = rule.values[0]
			}
			r.Header.Set(member.LocationName, value)
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			want := slices.Contains(c.Refused, member.Name)
			if got := w.Code == http.StatusNotImplemented && strings.Contains(strings.ToLower(w.Body.String()),
				strings.ToLower(member.LocationName)); got != want && o.Method != http.MethodHead && member.Name != "MFA" {
				t.Errorf("%s with %s: status %d, in the table: %t: %s", c.Name, member.LocationName, w.Code, want, w.Body)
			}
			sent++
		}
	}
	if sent < 200 {
		t.Errorf("only %d headers were sent", sent)
	}
}

func TestExpectedBucketOwner(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{Account: "123456789012"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	const caller = "222222222222"
	for owner, want := range map[string]int{
		"123456789012": http.StatusOK, caller: http.StatusOK, "111111111111": http.StatusForbidden} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/bucket/key", strings.NewReader("x"))
		r.Header.Set("Content-Length", "1")
		r.Header.Set("X-Amz-Expected-Bucket-Owner", owner)
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+caller+"/20261127/us-east-1/s3/aws4_request, "+
			"SignedHeaders=host, Signature=0")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("owner %s: status %d, want %d", owner, w.Code, want)
		}
	}
}

func TestEncryptionHeadersAreReturned(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	ask := func(method, key string, header http.Header) http.Header {
		r := httptest.NewRequestWithContext(t.Context(), method, "/bucket/"+key, strings.NewReader(""))
		r.Header = header
		r.Header.Set("Content-Length", "0")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s %s: status %d: %s", method, key, w.Code, w.Body)
		}
		return w.Header()
	}
	const scheme, id = "X-Amz-Server-Side-Encryption", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"
	kms := http.Header{scheme: {"aws:kms"}, id: {"alias/k"}}
	for _, h := range []http.Header{ask(http.MethodPut, "a", kms), ask(http.MethodGet, "a", http.Header{})} {
		if h.Get(scheme) != "aws:kms" || h.Get(id) != "alias/k" {
			t.Errorf("the object's encryption is %q, key %q", h.Get(scheme), h.Get(id))
		}
	}
	ask(http.MethodPut, "b", http.Header{"X-Amz-Copy-Source": {"bucket/a"}})
	if h := ask(http.MethodHead, "b", http.Header{}); h.Get(scheme) != "AES256" || h.Get(id) != "" {
		t.Errorf("the copy's encryption is %q, key %q", h.Get(scheme), h.Get(id))
	}
}
