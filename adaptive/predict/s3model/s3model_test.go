package s3model_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/adaptive/predict"
	"stepback/adaptive/predict/s3model"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// model returns a model for errors that recover at different rates, or, without them, one that is the base rate.
func model(t *testing.T, useful bool) *predict.Model {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 7))
	all := make([]predict.Example, 2000)
	for i := range all {
		name, chance := "States.Timeout", 0.4
		if i%2 == 0 {
			name = "Deadlock"
			if useful {
				chance = 0.95
			}
		}
		all[i] = predict.Example{At: noon.Add(time.Duration(i) * time.Minute), Execution: strconv.Itoa(i), Error: name,
			Attempt: 1, SinceFirst: 1, Succeeded: rnd.Float64() < chance}
	}
	m, err := predict.Train(all, 42)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// bucket is one object, with the parts of S3's API that a model needs.
type bucket struct {
	body    []byte
	written time.Time
	err     error
	gets    int
	whole   int // gets that returned the object
}

func (b *bucket) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	text, err := io.ReadAll(in.Body)
	b.body = text
	return &s3.PutObjectOutput{}, errors.Join(err, b.err)
}

func (b *bucket) GetObject(_ context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	b.gets++
	etag := `"` + strconv.Itoa(len(b.body)) + `"`
	switch {
	case b.err != nil:
		return nil, b.err
	case b.body == nil:
		return nil, &types.NoSuchKey{}
	case aws.ToString(in.IfNoneMatch) == etag:
		return nil, &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusNotModified}}, Err: errors.New("304")}}
	}
	b.whole++
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(b.body)), ETag: &etag, LastModified: &b.written}, nil
}

func TestReader(t *testing.T) {
	t.Parallel()
	at, err := s3model.Parse("s3://results/models/retries.json")
	if err != nil || at.String() != "s3://results/models/retries.json" {
		t.Fatal(at, err)
	}
	now, b := noon, &bucket{}
	var warned []string
	r := s3model.Reader{Client: b, At: at, Now: func() time.Time { return now },
		Unavailable: func(err error) { warned = append(warned, err.Error()) }}
	is := func(want bool, gets, whole int) {
		t.Helper()
		if got := r.Current(t.Context()) != nil; got != want || b.gets != gets || b.whole != whole {
			t.Errorf("at %s: a model is in use: %v after %d reads, %d of them whole; want %v, %d, %d", now.Format(time.DateTime),
				got, b.gets, b.whole, want, gets, whole)
		}
	}
	is(false, 1, 0) // not trained yet
	if err := s3model.Save(t.Context(), b, at, model(t, true)); err != nil {
		t.Fatal(err)
	}
	b.written = now.Add(time.Minute)
	now = now.Add(59 * time.Minute)
	is(false, 1, 0) // it is asked once an hour
	now = now.Add(time.Minute)
	is(true, 2, 1)
	now = now.Add(time.Hour)
	is(true, 3, 1) // unchanged, so it is not read again
	b.err = errors.New("no network")
	now = now.Add(time.Hour)
	is(true, 4, 1) // the last one stays in use
	now = b.written.Add(s3model.ValidFor)
	is(false, 5, 1) // it is too old
	b.err, b.written = nil, now
	if err := s3model.Save(t.Context(), b, at, model(t, false)); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	is(false, 6, 2) // it does not beat the base rate
	b.body = []byte("edited by hand")
	now = now.Add(time.Hour)
	is(false, 7, 3)
	if len(warned) != 3 || warned[0] != "the model s3://results/models/retries.json: no network" ||
		!strings.Contains(warned[2], "it is not a model file") {
		t.Errorf("warned of %q", warned)
	}
}

func TestParseRefusesOtherAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "models/retries.json", "s3://", "s3://bucket", "s3://bucket/", "s3:///key", "https://b/k"} {
		if at, err := s3model.Parse(address); err == nil || !strings.Contains(err.Error(), "write s3://BUCKET/KEY") {
			t.Errorf("%q is %v, %v", address, at, err)
		}
	}
}
