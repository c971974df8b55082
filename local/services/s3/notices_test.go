package s3_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	awserror "stepback/aws"
	"stepback/internal/objectevent"
	"stepback/local/services/delivery"
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
			upload(t, c, "k", "part one", "part two")
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
