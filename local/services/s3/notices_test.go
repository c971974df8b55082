package s3_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	awserror "stepback/aws"
	"stepback/internal/objectevent"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/inventory"
	"stepback/local/services/s3"
)

// queueOfNotices is a destination. Before it takes its first message, it copies the store's directory to image: what a
// process leaves that is killed between the change of the object and its notification.
type queueOfNotices struct {
	t     *testing.T
	dir   string
	image string
	fail  error

	mu  sync.Mutex
	got []string
}

func (q *queueOfNotices) deliver(_ context.Context, _ string, m *delivery.Message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	var body struct {
		Event   string
		Records []struct {
			EventName string
			S3        struct{ Object struct{ Key string } }
		}
	}
	if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
		q.t.Error(err)
	}
	if body.Event != "" { // the test event of the configuration
		return nil
	}
	if q.image != "" && len(q.got) == 0 {
		if err := os.CopyFS(q.image, os.DirFS(q.dir)); err != nil {
			q.t.Error(err)
		}
		keepTimes(q.t, q.dir, q.image)
	}
	q.got = append(q.got, body.Records[0].EventName+" "+body.Records[0].S3.Object.Key)
	return q.fail
}

// keepTimes gives the copies the modification times of their originals, which identify the contents of objects.
func keepTimes(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(to+strings.TrimPrefix(path, from), info.ModTime(), info.ModTime())
	})
	if err != nil {
		t.Error(err)
	}
}

func notices(t *testing.T, dir string) int {
	t.Helper()
	all, err := os.ReadDir(filepath.Join(dir, ".notices"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestKilledBeforeTheNotification kills the process between each kind of change of an object and its notification. The
// next process sends the notification, once. A change that was not made is not announced.
func TestKilledBeforeTheNotification(t *testing.T) {
	t.Parallel()
	in, key := aws.String(bucket), aws.String("k")
	for name, c := range map[string]struct {
		versions bool
		act      func(t *testing.T, c *awss3.Client, first *awss3.PutObjectOutput)
		want     string
	}{
		"put": {false, func(t *testing.T, c *awss3.Client, _ *awss3.PutObjectOutput) {
			put(t, c, "k", "second")
		}, "ObjectCreated:Put k"},
		"copy": {false, func(t *testing.T, c *awss3.Client, _ *awss3.PutObjectOutput) {
			if _, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: in, Key: aws.String("copy"),
				CopySource: aws.String(bucket + "/k")}); err != nil {
				t.Fatal(err)
			}
		}, "ObjectCreated:Copy copy"},
		"upload": {true, func(t *testing.T, c *awss3.Client, _ *awss3.PutObjectOutput) {
			upload(t, c, "k", filled("part one"), "part two")
		}, "ObjectCreated:CompleteMultipartUpload k"},
		"delete": {false, func(t *testing.T, c *awss3.Client, _ *awss3.PutObjectOutput) {
			if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: in, Key: key}); err != nil {
				t.Fatal(err)
			}
		}, "ObjectRemoved:Delete k"},
		"marker": {true, func(t *testing.T, c *awss3.Client, _ *awss3.PutObjectOutput) {
			if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: in, Key: key}); err != nil {
				t.Fatal(err)
			}
		}, "ObjectRemoved:DeleteMarkerCreated k"},
		"version": {true, func(t *testing.T, c *awss3.Client, first *awss3.PutObjectOutput) {
			if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: in, Key: key,
				VersionId: first.VersionId}); err != nil {
				t.Fatal(err)
			}
		}, "ObjectRemoved:Delete k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, image := t.TempDir(), filepath.Join(t.TempDir(), "image")
			q := &queueOfNotices{t: t, dir: dir, image: image}
			_, client := start(t, dir, s3.Options{Deliver: q.deliver})
			if c.versions {
				enabled := &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}
				if _, err := client.PutBucketVersioning(t.Context(), &awss3.PutBucketVersioningInput{Bucket: in,
					VersioningConfiguration: enabled}); err != nil {
					t.Fatal(err)
				}
			}
			first := put(t, client, "k", "first")
			notify(t, client)
			c.act(t, client, first)
			if !slices.Equal(q.got, []string{c.want}) || notices(t, dir) != 0 {
				t.Fatalf("without a crash: %q, and %d notices are left", q.got, notices(t, dir))
			}
			after := &queueOfNotices{t: t}
			for range 2 { // the second time there is nothing left to announce
				s, err := s3.Open(image, s3.Options{Deliver: after.deliver})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Resume(); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(after.got, []string{c.want}) || notices(t, image) != 0 {
				t.Errorf("after the crash: %q, and %d notices are left", after.got, notices(t, image))
			}
		})
	}
}

// notify makes a bucket send all its notifications to a queue.
func notify(t *testing.T, c *awss3.Client) {
	t.Helper()
	if _, err := c.PutBucketNotificationConfiguration(t.Context(), &awss3.PutBucketNotificationConfigurationInput{
		Bucket: aws.String(bucket), NotificationConfiguration: &types.NotificationConfiguration{
			QueueConfigurations: []types.QueueConfiguration{{QueueArn: aws.String("arn:aws:sqs:us-east-1:000000000000:q"),
				Events: []types.Event{"s3:ObjectCreated:*", "s3:ObjectRemoved:*"}}}}}); err != nil {
		t.Fatal(err)
	}
}

// TestAChangeThatWasNotMadeIsNotAnnounced leaves a notice of an object that the killed process did not put in place.
func TestAChangeThatWasNotMadeIsNotAnnounced(t *testing.T) {
	t.Parallel()
	dir, image := t.TempDir(), filepath.Join(t.TempDir(), "image")
	q := &queueOfNotices{t: t, dir: dir, image: image}
	_, c := start(t, dir, s3.Options{Deliver: q.deliver})
	notify(t, c)
	put(t, c, "k", "first")
	if err := os.Remove(filepath.Join(image, bucket, "k")); err != nil { // as if it had not been moved there
		t.Fatal(err)
	}
	after := &queueOfNotices{t: t}
	s, err := s3.Open(image, s3.Options{Deliver: after.deliver})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Resume(); err != nil || len(after.got) > 0 || notices(t, image) != 0 {
		t.Errorf("%v, announced %q, and %d notices are left", err, after.got, notices(t, image))
	}
}

// TestANotificationThatFailsIsRepeated lets a delivery fail on the server's side: the next process repeats it. One that
// the destination refuses is not repeated.
func TestANotificationThatFailsIsRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail error
		want []string
	}{
		"server": {errors.New("down"), []string{"ObjectCreated:Put k"}},
		"throttled": {&awserror.Error{Code: "TooManyRequestsException", Status: http.StatusTooManyRequests},
			[]string{"ObjectCreated:Put k"}},
		"refused": {&awserror.Error{Code: "AccessDenied", Status: http.StatusForbidden}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := &queueOfNotices{t: t, fail: c.fail}
			_, client := start(t, dir, s3.Options{Deliver: first.deliver})
			notify(t, client)
			put(t, client, "k", "body")
			after := &queueOfNotices{t: t}
			s, err := s3.Open(dir, s3.Options{Deliver: after.deliver})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Resume(); err != nil || !slices.Equal(after.got, c.want) || notices(t, dir) != 0 {
				t.Errorf("%v, announced %q, and %d notices are left", err, after.got, notices(t, dir))
			}
		})
	}
}

// TestBucketsThatMustBeAnnounced kills the process before the subscriber of a bucket is called.
func TestBucketsThatMustBeAnnounced(t *testing.T) {
	t.Parallel()
	dir, image := t.TempDir(), filepath.Join(t.TempDir(), "image")
	must := func(string) bool { return true }
	_, c := start(t, dir, s3.Options{MustAnnounce: must, ObjectCreated: func(objectevent.Event) {
		if err := os.CopyFS(image, os.DirFS(dir)); err != nil {
			t.Error(err)
		}
		keepTimes(t, dir, image)
	}})
	put(t, c, "k", "body")
	var got []string
	s, err := s3.Open(image, s3.Options{MustAnnounce: must, ObjectCreated: func(e objectevent.Event) {
		got = append(got, string(e.Detail.Reason)+" "+e.Detail.Object.Key)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Resume(); err != nil || !slices.Equal(got, []string{"PutObject k"}) || notices(t, dir)+notices(t, image) != 0 {
		t.Errorf("%v, announced %q", err, got)
	}
}

// TestDamagedNotices changes every byte of a notice, and cuts it: s3.Check reports each change, and the next process
// neither announces what was not written nor removes the file. A notice of an earlier version, without a checksum, is
// still announced.
func TestDamagedNotices(t *testing.T) {
	t.Parallel()
	dir, image := t.TempDir(), filepath.Join(t.TempDir(), "image")
	q := &queueOfNotices{t: t, dir: dir, image: image}
	_, c := start(t, dir, s3.Options{Deliver: q.deliver})
	notify(t, c)
	put(t, c, "k", "body")
	all, err := filepath.Glob(filepath.Join(image, ".notices", "*.sealed.json"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	path := all[0]
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	problems := func() (found []string) {
		if err := s3.Check(image, nil, func(err error) { found = append(found, err.Error()) }); err != nil {
			t.Fatal(err)
		}
		return found
	}
	resume := func() []string {
		after := &queueOfNotices{t: t}
		s, err := s3.Open(image, s3.Options{Deliver: after.deliver, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
		return after.got
	}
	if found := problems(); len(found) > 0 {
		t.Errorf("intact: %q", found)
	}
	damaged := [][]byte{nil, written[:len(written)-1], written[:len(written)/2]}
	for i := range written {
		changed := slices.Clone(written)
		changed[i] ^= 1
		damaged = append(damaged, changed)
	}
	for i, text := range damaged {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if found := problems(); len(found) != 1 || !strings.HasPrefix(found[0], path+" is damaged: ") {
			t.Fatalf("%d, %s: %q", i, text, found)
		}
	}
	if got := resume(); len(got) > 0 || notices(t, image) != 1 {
		t.Errorf("announced %q, and %d notices are left", got, notices(t, image))
	}
	var told []string
	aside := filepath.Join(t.TempDir(), "aside")
	if err := s3.Repair(image, inventoryOf(t, image), aside, func(err error) {
		told = append(told,
			err.Error())
	}); err != nil || len(told) != 1 ||
		notices(t, image) != 0 {
		t.Errorf("%v, %q, and %d notices are left", err, told, notices(t, image))
	}
	i := strings.LastIndex(string(written), `,"sealed"`)
	if err := os.WriteFile(filepath.Join(image, ".notices", "EARLIER.json"), append(written[:i:i], '}'), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := problems(); len(found) > 0 {
		t.Errorf("of an earlier version: %q", found)
	}
	if got := resume(); !slices.Equal(got, []string{"ObjectCreated:Put k"}) || notices(t, image) != 0 {
		t.Errorf("announced %q, and %d notices are left", got, notices(t, image))
	}
}

func inventoryOf(t *testing.T, dir string) *inventory.Files {
	t.Helper()
	store, err := documents.Open(filepath.Join(t.TempDir(), "documents"), nil)
	if err != nil {
		t.Fatal(err)
	}
	files := inventory.Open(store, dir)
	t.Cleanup(func() {
		if err := errors.Join(files.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return files
}

// TestBucketMarks expects the creation date of a bucket from its mark, whatever the modification times are, and of a
// bucket of an earlier version from the modification time. Each changed byte of the mark is reported.
func TestBucketMarks(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), time.Date(2026, 11, 27, 2, 0, 0, 0, time.UTC)
	files := inventoryOf(t, dir)
	_, c := start(t, dir, s3.Options{Files: files, Now: func() time.Time { return at }})
	mark := filepath.Join(dir, ".meta", bucket, "%.bucket")
	earlier := at.Add(-time.Hour)
	if err := os.Chtimes(mark, earlier, earlier); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".meta", "of-an-earlier-version"), 0o700); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, ".meta", "of-an-earlier-version", "%.bucket")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "of-an-earlier-version"), 0o700), os.WriteFile(empty, nil, 0o600),
		os.Chtimes(empty, earlier, earlier)); err != nil {
		t.Fatal(err)
	}
	out, err := c.ListBuckets(t.Context(), &awss3.ListBucketsInput{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]time.Time{}
	for _, b := range out.Buckets {
		got[*b.Name] = *b.CreationDate
	}
	if !got[bucket].Equal(at) || !got["of-an-earlier-version"].Equal(earlier) {
		t.Errorf("%v", got)
	}
	written, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(written) + 2 {
		text := slices.Clone(written)
		switch {
		case i < len(written):
			text[i] ^= 1
		case i == len(written):
			text = nil
		default:
			text = text[:i/2]
		}
		if err := os.WriteFile(mark, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var found []string
		if err := s3.Check(dir, files, func(err error) { found = append(found, err.Error()) }); err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || !strings.HasPrefix(found[0], mark+" is damaged: ") {
			t.Fatalf("%d, %s: %q", i, text, found)
		}
	}
	if _, err := c.ListBuckets(t.Context(), &awss3.ListBucketsInput{}); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a list with a damaged date: %v", err)
	}
}
