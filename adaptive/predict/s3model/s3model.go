// Package s3model keeps a model of package predict as an object in S3: a model can have half a megabyte, which is too
// much for an item of DynamoDB. The function that trains the model replaces the object; functions that use the model
// read it once an hour with [Reader].
package s3model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/adaptive/predict"
)

// Location names the object that holds a model.
type Location struct{ Bucket, Key string }

// Parse reads a location written as s3://BUCKET/KEY.
func Parse(address string) (Location, error) {
	rest, ok := strings.CutPrefix(address, "s3://")
	bucket, key, cut := strings.Cut(rest, "/")
	if !ok || !cut || bucket == "" || key == "" {
		return Location{}, fmt.Errorf("%q is not the address of an object; write s3://BUCKET/KEY", address)
	}
	return Location{bucket, key}, nil
}

// String returns the location as s3://BUCKET/KEY.
func (l Location) String() string { return "s3://" + l.Bucket + "/" + l.Key }

// Putter is the part of the S3 client that Save uses.
type Putter interface {
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Save replaces the model at a location. The object is a model file, as `stepback predict show` reads it.
func Save(ctx context.Context, client Putter, at Location, m *predict.Model) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	_, err = client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &at.Bucket, Key: &at.Key, Body: bytes.NewReader(text), ContentType: aws.String("application/json"),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// Getter is the part of the S3 client that a [Reader] uses.
type Getter interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// The defaults of a [Reader].
const (
	// ValidFor is the time after which a model that was not replaced is no longer used. A model is trained once a day.
	ValidFor = 3 * 24 * time.Hour

	defaultEvery   = time.Hour
	defaultTimeout = 2 * time.Second
	largest        = 4 << 20 // bytes; the largest forest has half a megabyte
)

// Reader reads a model periodically. Set its exported fields before use; it is safe for concurrent use.
type Reader struct {
	Client Getter
	At     Location
	// Every is the time between reads; 0 means an hour. Timeout limits one read; 0 means two seconds.
	Every, Timeout time.Duration
	// Now is the clock; nil means the machine's.
	Now func() time.Time
	// Unavailable, if not nil, is called when the model could not be read. The model read last stays in use.
	Unavailable func(error)

	mu      sync.Mutex
	known   *predict.Model
	etag    string
	written time.Time // when the object was written
	asked   time.Time
}

func (r *Reader) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// Current returns the model in use. It returns nil if there is none, if it does not predict better than the base rate,
// or if it was written more than [ValidFor] ago. It reads the object at most once per Every; while one call reads,
// concurrent calls use the model read last.
func (r *Reader) Current(ctx context.Context) *predict.Model {
	now := r.now()
	every := r.Every
	if every <= 0 {
		every = defaultEvery
	}
	r.mu.Lock()
	stale := r.asked.IsZero() || now.Sub(r.asked) >= every || now.Before(r.asked)
	if stale {
		r.asked = now
	}
	etag := r.etag
	r.mu.Unlock()
	if stale {
		if err := r.read(ctx, etag); err != nil && r.Unavailable != nil {
			r.Unavailable(fmt.Errorf("the model %s: %w", r.At, err))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || !r.known.BeatsBaseRate() || now.Sub(r.written) >= ValidFor {
		return nil
	}
	return r.known
}

// read reads the object unless it still has the given ETag.
func (r *Reader) read(ctx context.Context, etag string) error {
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	in := &s3.GetObjectInput{Bucket: &r.At.Bucket, Key: &r.At.Key}
	if etag != "" {
		in.IfNoneMatch = &etag
	}
	out, err := r.Client.GetObject(ctx, in)
	var none *types.NoSuchKey
	var response *awshttp.ResponseError
	switch {
	case errors.As(err, &none): // not trained yet, or expired
		r.keep(nil, "", time.Time{})
		return nil
	case errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotModified:
		return nil
	case err != nil:
		return err
	}
	defer out.Body.Close()
	text, err := io.ReadAll(io.LimitReader(out.Body, largest+1))
	if err != nil {
		return err
	}
	if len(text) > largest {
		return fmt.Errorf("it has more than %d bytes; train it again", largest)
	}
	m, err := predict.Read(text)
	if err != nil {
		r.keep(nil, "", time.Time{})
		return err
	}
	r.keep(m, aws.ToString(out.ETag), aws.ToTime(out.LastModified))
	return nil
}

func (r *Reader) keep(m *predict.Model, etag string, written time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.etag, r.written = m, etag, written
}
