package client_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// s3 calls an operation of S3 at an address.
func s3(t *testing.T, r *round, endpoint, operation, input string, body io.ReadSeeker) (*client.Response, error) {
	t.Helper()
	s := model.MustFind("s3")
	o, err := s.Operation(operation)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonvalue.Parse(input)
	if err != nil {
		t.Fatal(err)
	}
	return caller(r, endpoint).Call(t.Context(), &client.Request{Service: s, Operation: o, Input: v, Body: body})
}

func TestAddressesOfS3(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ endpoint, input, want string }{
		"path style": {"http://127.0.0.1:9000", `{"Bucket":"books","Key":"a b/c+d"}`,
			"http://127.0.0.1:9000/books/a%20b/c%2Bd?x-id=GetObject"},
		"a path before it": {"http://127.0.0.1:9000/s3/", `{"Bucket":"books","Key":"k"}`,
			"http://127.0.0.1:9000/s3/books/k?x-id=GetObject"},
		"a host that wants the bucket": {"http://{Bucket}.s3.local:9000", `{"Bucket":"books","Key":"a/b"}`,
			"http://books.s3.local:9000/a/b?x-id=GetObject"},
		"AWS": {"https://s3.eu-west-1.amazonaws.com", `{"Bucket":"books","Key":"k"}`,
			"https://books.s3.eu-west-1.amazonaws.com/k?x-id=GetObject"},
		"AWS, and a bucket with dots": {"https://s3.eu-west-1.amazonaws.com", `{"Bucket":"my.books","Key":"k"}`,
			"https://s3.eu-west-1.amazonaws.com/my.books/k?x-id=GetObject"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := with(200, nil, nil)
			if _, err := s3(t, r, c.endpoint, "GetObject", c.input, nil); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(r.request.URL.String(), "?x-id=GetObject"); got != strings.TrimSuffix(c.want,
				"?x-id=GetObject") {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if r.request.Host != r.request.URL.Host {
				t.Errorf("Host is %s", r.request.Host)
			}
		})
	}
	_, err := s3(t, with(200, nil, nil), "http://{Bucket}.s3.local", "GetObject", `{"Bucket":"My Books","Key":"k"}`,
		nil)
	var wrong *model.ValueError
	if !errors.As(err, &wrong) || err.Error() != "Bucket: the bucket My Books cannot be part of a host's name" {
		t.Error(err)
	}
}

func TestChecksums(t *testing.T) {
	t.Parallel()
	const tagging = `{"Bucket":"b","Tagging":{"TagSet":[]}}`
	for name, c := range map[string]struct{ operation, input, header, want string }{
		"CRC32 unless it is said": {"PutObject", `{"Bucket":"b","Key":"k"}`, "X-Amz-Checksum-Crc32", "DUoRhQ=="},
		"the one that is said": {"PutObject", `{"Bucket":"b","Key":"k","ChecksumAlgorithm":"SHA256"}`,
			"X-Amz-Checksum-Sha256", "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="},
		"CRC64NVME": {"PutObject", `{"Bucket":"b","Key":"k","ChecksumAlgorithm":"CRC64NVME"}`,
			"X-Amz-Checksum-Crc64nvme", "jSnVw/bqjr4="},
		"the caller's own": {"PutObject", `{"Bucket":"b","Key":"k","ChecksumSHA1":"own"}`, "X-Amz-Checksum-Sha1",
			"own"},
		"where one is required": {"PutBucketTagging", tagging, "X-Amz-Checksum-Crc32", "*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := with(200, nil, nil)
			var body io.ReadSeeker
			if c.operation == "PutObject" {
				body = strings.NewReader("hello world")
			}
			if _, err := s3(t, r, "", c.operation, c.input, body); err != nil {
				t.Fatal(err)
			}
			if got := r.request.Header.Get(c.header); got != c.want && (c.want != "*" || got == "") {
				t.Errorf("%s is %q, want %q; all are %v", c.header, got, c.want, r.request.Header)
			}
			if c.operation == "PutObject" && string(r.body) != "hello world" {
				t.Errorf("sent %q", r.body)
			}
			if r.request.Header.Get("X-Amz-Content-Sha256") == "" {
				t.Error("the hash of the body is not told")
			}
		})
	}
	_, err := s3(t, with(200, nil, nil), "", "PutObject", `{"Bucket":"b","Key":"k","ChecksumAlgorithm":"XXHASH64"}`,
		bytes.NewReader(nil))
	if err == nil || err.Error() != "ChecksumAlgorithm: the checksum XXHASH64 cannot be computed here" {
		t.Error(err)
	}
}

func TestStreamsAreHandedOver(t *testing.T) {
	t.Parallel()
	r := with(200, map[string]string{"Content-Type": "text/plain", "X-Amz-Meta-Color": "red", "Content-Length": "5"},
		nil)
	r.answer.Body = io.NopCloser(io.LimitReader(endless{}, 5))
	a, err := s3(t, r, "", "GetObject", `{"Bucket":"b","Key":"k"}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Output.JSON(); got != `{"ContentLength":5,"ContentType":"text/plain","Metadata":{"color":"red"}}` {
		t.Error(got)
	}
	if b, err := io.ReadAll(a.Body); err != nil || string(b) != "     " {
		t.Errorf("%q, %v", b, err)
	}
}

// S3 may respond to a copy with status 200 first and the error afterwards.
func TestACopyThatFails(t *testing.T) {
	t.Parallel()
	const body = `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>later</Message><RequestId>r</RequestId>` +
		`<HostId>h</HostId></Error>`
	_, err := s3(t, with(200, nil, []byte(body)), "", "CopyObject", `{"Bucket":"b","Key":"k","CopySource":"b/a"}`, nil)
	var e *client.Error
	if !errors.As(err, &e) || e.Code != "SlowDown" || e.Message != "later" || e.RequestID != "r" || e.HostID != "h" {
		t.Errorf("got %v", err)
	}
}

func TestRegions(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"sqs.eu-west-1.amazonaws.com": "eu-west-1", "iam.amazonaws.com": "us-east-1",
		"s3.dualstack.ap-southeast-2.amazonaws.com": "ap-southeast-2",
		"sqs.us-gov-west-1.amazonaws.com":           "us-gov-west-1",
		"sqs.cn-north-1.amazonaws.com.cn":           "cn-north-1", "monitoring.eu-central-1.api.aws": "eu-central-1",
		"api.aws": "fallback",
	} {
		if got := client.RegionOf(host, "fallback"); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}
