package s3

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"stepback/internal/objectevent"
)

// putText puts a body at a key.
func (s *store) putText(t *testing.T, key, text string) {
	t.Helper()
	b, err := s.receive(bytes.NewReader([]byte(text)), int64(len(text)), nil)
	if err == nil {
		defer b.discard()
		_, _, err = s.place("bucket", key, &b, objectevent.PutObject, nil)
	}
	if err != nil {
		t.Errorf("put %q: %v", key, err)
	}
}

// text returns an object's content; ok is false if there is no object.
func (s *store) text(t *testing.T, key string) (text string, ok bool) {
	t.Helper()
	f, v, err := s.openVersion("bucket", key)
	if isCode(err, "NoSuchKey") {
		return "", false
	}
	if err != nil {
		t.Errorf("get %q: %v", key, err)
		return "", false
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil || int64(b.Len()) != v.Size {
		t.Errorf("get %q: %d bytes of %d, %v", key, b.Len(), v.Size, err)
	}
	return b.String(), true
}

// TestObjectsDoNotWaitForEachOther changes objects while the turn of another one is taken.
func TestObjectsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	s.putText(t, "a/kept", "1") // an empty directory would be removed, for which its changes end first
	end := s.turn("bucket", "a/b")
	for _, key := range []string{"b", "a/c", "a/bc", "x/y/z"} {
		s.putText(t, key, "1")
		if gone, err := s.remove("bucket", key, nil); err != nil || !gone {
			t.Errorf("delete %q: %v, %v", key, gone, err)
		}
	}
	end()
	if len(s.turns.paths) != 0 {
		t.Errorf("%d locks are left", len(s.turns.paths))
	}
}

// TestObjectsWhosePathsCross puts, reads and deletes objects concurrently whose names are directories on the way to
// others, with and without versions. Each object has what its own worker put last.
func TestObjectsWhosePathsCross(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 300)
	keys := []string{"a", "a/b", "a/b/c", "a/b/d", "a//", "x/y/z", "x/y/w", "x", long, long + "/m", "é/+%"}
	for _, versioning := range []string{"", `<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>`} {
		t.Run("versioning "+versioning, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			if err := s.changeSettings("bucket", map[string]string{"versioning": versioning}); err != nil {
				t.Fatal(err)
			}
			var workers sync.WaitGroup
			for n, key := range keys {
				workers.Go(func() {
					random := rand.New(rand.NewPCG(7, uint64(n)))
					for i := range 200 {
						want := ""
						if random.IntN(3) > 0 {
							want = fmt.Sprint(key[:1], n, " ", i)
							s.putText(t, key, want)
						} else if _, err := s.deleteLatest("bucket", key, nil); err != nil {
							t.Errorf("delete %q: %v", key, err)
						}
						if got, ok := s.text(t, key); got != want || ok != (want != "") {
							t.Errorf("%q has %q, want %q", key, got, want)
						}
					}
				})
			}
			workers.Wait()
			if len(s.turns.paths) != 0 {
				t.Errorf("%d locks are left", len(s.turns.paths))
			}
		})
	}
}
