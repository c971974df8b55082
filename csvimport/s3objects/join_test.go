package s3objects_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"stepback/aws/objects"
	"stepback/csvimport"
	"stepback/csvimport/s3objects"
	"stepback/local/services/s3"
)

// TestJoin joins objects of sizes around the smallest part of an upload.
func TestJoin(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		o := client(serve(t))
		const least = objects.MinPartBytes
		for name, sizes := range map[string][]int64{
			"nothing": {}, "empty pieces": {0, 0}, "small": {10, 0, 20}, "one part": {least}, "just below": {least - 1, 1, 3},
			"small and large": {7, 2*least + 5, 1, least, 3 * least, 9}, "many": {least / 2, least / 2, least / 2, least / 2, 1},
		} {
			random := rand.New(rand.NewPCG(1, 2))
			want := []byte("head\n")
			var pieces []csvimport.Piece
			for i, size := range sizes {
				content := make([]byte, size)
				for j := range content {
					content[j] = byte(random.Uint32())
				}
				at := csvimport.Location{Bucket: "joined", Key: fmt.Sprintf("%s/%d", name, i)}
				if err := o.Put(t.Context(), at, bytes.NewReader(content), size, "text/plain"); err != nil {
					t.Fatal(err)
				}
				pieces, want = append(pieces, csvimport.Piece{Location: at, Size: size}), append(want, content...)
			}
			to := csvimport.Location{Bucket: "joined", Key: name}
			if err := o.Join(t.Context(), to, []byte("head\n"), pieces, "text/csv"); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			object, err := o.Get(t.Context(), to, "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(object.Body)
			if err != nil || !bytes.Equal(got, want) || object.ContentType != "text/csv" {
				t.Errorf("%s: %d bytes of %s (%v), want %d bytes of text/csv", name, len(got), object.ContentType, err, len(want))
			}
			_ = object.Body.Close()
		}
		missing := []csvimport.Piece{{Location: csvimport.Location{Bucket: "joined", Key: "gone"}, Size: least}}
		wantName(t, o.Join(t.Context(), csvimport.Location{Bucket: "joined", Key: "x"}, nil, missing, ""), "CSVFileNotFound")
	})
}

// TestGetFrom reads the end of an object.
func TestGetFrom(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		o := client(serve(t))
		at := csvimport.Location{Bucket: "joined", Key: "a"}
		if err := o.Put(t.Context(), at, strings.NewReader("0123456789"), 10, ""); err != nil {
			t.Fatal(err)
		}
		for offset, want := range map[int64]string{0: "0123456789", 4: "456789", 9: "9", 10: ""} {
			object, err := o.GetFrom(t.Context(), at, "", offset)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(object.Body)
			if err != nil || string(got) != want || object.Size != 10 {
				t.Errorf("from %d: %q of %d bytes (%v), want %q of 10", offset, got, object.Size, err, want)
			}
		}
		_, err := o.GetFrom(t.Context(), at, "0123456789abcdef0123456789abcdef", 4)
		wantName(t, err, "CSVFileChanged")
	})
}

// serve starts an S3 server with the bucket joined, and returns its endpoint.
func serve(t *testing.T) string {
	t.Helper()
	server, err := s3.Open(t.TempDir(), s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	if err := server.CreateBucket("joined"); err != nil {
		t.Fatal(err)
	}
	return server.Endpoint()
}
