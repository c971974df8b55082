package endpoint_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzHandler checks that every request is forwarded to one service or refused with JSON, whatever its host, path and
// headers, and that no request with a foreign host is forwarded.
func FuzzHandler(f *testing.F) {
	f.Add("127.0.0.1:4566", "/", "AWSStepFunctions.StartExecution", "", "")
	f.Add("bucket.s3.localhost", "/key%2F", "", "AWS4-HMAC-SHA256 Credential=a/b/c/s3/aws4_request, X", "")
	f.Add("[::1]:4566", "/2015-03-31/functions", "", "", "http://evil.example")
	f.Add("evil.example", "/?X-Amz-Credential=a/b/c/lambda/d", "Logs_20140328.", "", "")
	f.Fuzz(func(t *testing.T, host, path, target, authorization, origin string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		r := (&http.Request{Method: http.MethodPost, URL: u, Host: host,
			Header: http.Header{}}).WithContext(t.Context())
		for name, value := range map[string]string{"X-Amz-Target": target, "Authorization": authorization,
			"Origin": origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		handler().ServeHTTP(w, r)
		name, _, _ := strings.Cut(w.Body.String(), " ")
		served := w.Code == http.StatusOK && slices.Contains([]string{"states", "lambda", "s3", "logs"}, name)
		if !served && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if served && strings.HasSuffix(strings.ToLower(host), ".example") &&
			!strings.EqualFold(strings.TrimPrefix(strings.ToLower(host), "sync-"), "box.example") {
			t.Errorf("%s was served", host)
		}
	})
}
