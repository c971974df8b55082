package s3_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"testing"

	"stepback/local/services/s3"
)

// The redirect of a form names the object, in this order, behind the parameters that its URL has.
func TestAFormRedirects(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir(), s3.Options{})
	address := server.Endpoint() + "/" + bucket
	for target, want := range map[string]string{
		"http://shop.example/done":     "http://shop.example/done?bucket=" + bucket + "&key=a%2Fb&etag=%2237b51d194a7513e45b56f6524f2d51f2%22",
		"http://shop.example/done?x=1": "http://shop.example/done?x=1&bucket=" + bucket + "&key=a%2Fb&etag=%2237b51d194a7513e45b56f6524f2d51f2%22",
	} {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		_ = w.WriteField("key", "a/b")
		_ = w.WriteField("success_action_redirect", target)
		part, err := w.CreateFormFile("file", "f")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte("bar"))
		_ = w.Close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, &b)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", w.FormDataContentType())
		a, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if got := a.Header.Get("Location"); a.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%d %s\nwant %s", a.StatusCode, got, want)
		}
	}
	// What the redirect appends does not keep the bucket from being listed.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"?bucket=b&key=k&etag=e", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	if a.StatusCode != http.StatusOK {
		t.Error(a.Status)
	}
}
