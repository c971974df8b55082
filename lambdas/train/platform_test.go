package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/adaptive/predict/s3model"
	"stepback/local"
)

// TestTheModelReachesTheFunctions trains with real clients at the platform: a reader finds no model, then the trained
// one, and does not fetch it again while it is unchanged.
func TestTheModelReachesTheFunctions(t *testing.T) {
	t.Parallel()
	p, err := local.Open(t.Context(), local.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	counted := &transport{}
	objects := s3.New(s3.Options{Region: "us-east-1", BaseEndpoint: &p.Endpoint, UsePathStyle: true,
		HTTPClient:  &http.Client{Transport: counted},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	at := s3model.Location{Bucket: "results", Key: "models/retries.json"}
	if _, err := objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(at.Bucket)}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r := s3model.Reader{Client: objects, At: at, Now: func() time.Time { return now },
		Unavailable: func(err error) { t.Error(err) }}
	if m := r.Current(t.Context()); m != nil {
		t.Errorf("before the training there is %+v", m)
	}
	tr := trainer{machine: "arn:aws:states:us-east-1:123456789012:stateMachine:csv-import", at: at, objects: objects,
		histories: past{tasks: 2000, recovers: func(i int, deadlock bool) bool {
			if deadlock {
				return mixed(i, 9)
			}
			return mixed(i, 2)
		}}, now: func() time.Time { return noon }, log: slog.New(slog.DiscardHandler), out: &bytes.Buffer{}}
	a, err := tr.train(t.Context())
	if err != nil || !a.Used {
		t.Fatalf("%+v, %v", a, err)
	}
	for range 2 {
		now = now.Add(time.Hour)
		if m := r.Current(t.Context()); m == nil || m.Kind != a.Model {
			t.Errorf("after the training there is %+v", m)
		}
	}
	if counted.last != http.StatusNotModified {
		t.Errorf("the unchanged model was answered with %d", counted.last)
	}
}

// transport remembers the last status.
type transport struct{ last int }

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		t.last = response.StatusCode
	}
	return response, err
}
