package s3_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"stepback/local/services/s3"
)

// blanks is an endless body that counts the bytes read.
type blanks struct{ read int64 }

func (b *blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	b.read += int64(len(p))
	return len(p), nil
}

func TestXMLWithoutEndIsRefusedBeforeItFillsTheMemory(t *testing.T) {
	t.Parallel()
	server, err := s3.Open(t.TempDir(), s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{
		"POST /incoming?delete", "POST /incoming/a?uploadId=1", "POST /incoming/a?uploads", "PUT /incoming?versioning",
	} {
		method, target, _ := strings.Cut(request, " ")
		body := &blanks{}
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, body))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(),
			"<Code>MaxMessageLengthExceeded</Code>") {
			t.Errorf("%s: %d %s", request, w.Code, w.Body)
		}
		if body.read > 32<<20 {
			t.Errorf("%s: %d bytes were read of a body without end", request, body.read)
		}
	}
}

func TestXMLThatEndsEarlyIsRefused(t *testing.T) {
	t.Parallel()
	server, err := s3.Open(t.TempDir(), s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	cut := io.MultiReader(strings.NewReader("<Delete><Object>"), iotest.ErrReader(io.ErrUnexpectedEOF))
	server.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/incoming?delete", cut))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "<Code>IncompleteBody</Code>") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
