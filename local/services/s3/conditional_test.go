package s3_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/local/services/s3"
)

func TestRanges(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "0123456789")
	for _, r := range []struct{ ask, body, contentRange string }{
		{"bytes=0-3", "0123", "bytes 0-3/10"},
		{"bytes=4-", "456789", "bytes 4-9/10"},
		{"bytes=-3", "789", "bytes 7-9/10"},
		{"bytes=-30", "0123456789", "bytes 0-9/10"},
		{"bytes=8-9223372036854775807", "89", "bytes 8-9/10"},
	} {
		body, out := get(t, c, &awss3.GetObjectInput{Key: aws.String("k"), Range: &r.ask})
		if body != r.body || aws.ToString(out.ContentRange) != r.contentRange {
			t.Errorf("%s: %q %q", r.ask, body, aws.ToString(out.ContentRange))
		}
	}
	_, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"),
		Range: aws.String("bytes=10-")})
	if codeOf(err) != "InvalidRange" {
		t.Errorf("range beyond the end: %v", err)
	}
}

func TestConditionalReads(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	etag := *put(t, c, "k", "hello").ETag
	status := func(in *awss3.GetObjectInput) string {
		in.Bucket, in.Key = aws.String(bucket), aws.String("k")
		out, err := c.GetObject(t.Context(), in)
		if err == nil {
			out.Body.Close()
			return "OK"
		}
		return codeOf(err)
	}
	for _, r := range []struct {
		in   awss3.GetObjectInput
		want string
	}{
		{awss3.GetObjectInput{IfMatch: &etag}, "OK"},
		{awss3.GetObjectInput{IfMatch: aws.String(strings.Trim(etag, `"`))}, "OK"},
		{awss3.GetObjectInput{IfMatch: aws.String(`"other"`)}, "PreconditionFailed"},
		{awss3.GetObjectInput{IfMatch: aws.String(`"other"`), Range: aws.String("bytes=1-2")}, "PreconditionFailed"},
		{awss3.GetObjectInput{IfNoneMatch: aws.String(`"other"`)}, "OK"},
		{awss3.GetObjectInput{IfNoneMatch: &etag}, "NotModified"},
	} {
		if got := status(&r.in); got != r.want {
			t.Errorf("%+v: %s, want %s", r.in, got, r.want)
		}
	}
}

func TestConditionalWrites(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	write := func(match, noneMatch *string) string {
		_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
			Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("hello"), IfMatch: match,
			IfNoneMatch: noneMatch,
		})
		return codeOf(err)
	}
	if got := write(aws.String(`"x"`), nil); got != "NoSuchKey" {
		t.Errorf("If-Match without an object: %q", got)
	}
	if got := write(nil, aws.String("*")); got != "" {
		t.Errorf("first If-None-Match: %q", got)
	}
	if got := write(nil, aws.String("*")); got != "PreconditionFailed" {
		t.Errorf("second If-None-Match: %q", got)
	}
	if got := write(aws.String(`"x"`), nil); got != "PreconditionFailed" {
		t.Errorf("wrong If-Match: %q", got)
	}
	if got := write(aws.String(`"5d41402abc4b2a76b9719d911017c592"`), nil); got != "" {
		t.Errorf("right If-Match: %q", got)
	}
}

func TestOnlyOneOfManyConditionalWritesWins(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	var wins, losses int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
				Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("x"),
				IfNoneMatch: aws.String("*"),
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				wins++
			} else if codeOf(err) == "PreconditionFailed" {
				losses++
			}
		})
	}
	wg.Wait()
	if wins != 1 || losses != 15 {
		t.Errorf("%d won, %d lost", wins, losses)
	}
}

func TestConcurrentReadersSeeOneVersionOrTheOther(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	contents := map[string]string{} // by ETag
	var versions []string
	for _, ch := range "abcd" {
		body := strings.Repeat(string(ch), 50_000)
		contents[*put(t, c, "k", body).ETag] = body
		versions = append(versions, body)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 20 {
				_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
					Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader(versions[i])})
				if err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				out, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucket),
					Key: aws.String("k")})
				if err != nil {
					t.Error(err)
					return
				}
				body, _ := io.ReadAll(out.Body)
				out.Body.Close()
				if contents[*out.ETag] != string(body) {
					t.Errorf("ETag %s with a body of %d %.1q", *out.ETag, len(body), body)
				}
			}
		})
	}
	wg.Wait()
}
