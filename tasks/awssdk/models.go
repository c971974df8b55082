package awssdk

import (
	"bytes"
	"context"
	"io"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/asl/jsonvalue"
	"stepback/engine"
)

// maxModelInput is how many bytes of an object are sent to a model; the service takes 25,000,000.
const maxModelInput = 25_000_000

// modelInput makes a request for a model whose body may lie in S3, as Input says. Output is for later.
func modelInput(ctx context.Context, o *Optimized, t *engine.Task, params jsonvalue.Value) (jsonvalue.Value, error) {
	if params.Kind() != jsonvalue.Object {
		return params, nil
	}
	b := jsonvalue.NewObject(params.Len())
	for i, key := range params.Keys() {
		if key != "Input" && key != "Output" {
			b.Set(key, params.At(i))
		}
	}
	if uri := s3Location(params, "Input"); uri != "" {
		body, err := o.Caller.object(ctx, t, uri)
		if err != nil {
			return params, err
		}
		b.Set("Body", jsonvalue.OfString(string(body)))
	}
	return b.Value(), nil
}

// modelOutput writes the body of a model's answer to S3 where Output says so. The result has the place in its stead.
func modelOutput(ctx context.Context, o *Optimized, t *engine.Task, result jsonvalue.Value) (jsonvalue.Value, error) {
	params, err := t.Value()
	if err != nil {
		return result, err
	}
	uri := s3Location(params, "Output")
	if uri == "" {
		return modelAnswer(result), nil
	}
	body, _ := result.Get("Body")
	kind, _ := result.Get("ContentType")
	if err := o.Caller.store(ctx, t, uri, body.Text(), kind.Text()); err != nil {
		return result, err
	}
	return result.With("Body", jsonvalue.OfString(uri)), nil
}

// modelAnswer reads the body of a model's answer where it is JSON.
func modelAnswer(result jsonvalue.Value) jsonvalue.Value {
	body, _ := result.Get("Body")
	if v, err := jsonvalue.Parse(body.Text()); err == nil && strings.TrimSpace(body.Text()) != "" {
		return result.With("Body", v)
	}
	return result
}

// s3Location is the place that a member of the parameters names; empty when there is none.
func s3Location(params jsonvalue.Value, member string) string {
	v, _ := params.Get(member)
	uri, _ := v.Get("S3Uri")
	return uri.Text()
}

// object reads an object of S3 for a task.
func (c *Caller) object(ctx context.Context, t *engine.Task, uri string) ([]byte, error) {
	client, bucket, key, err := c.bucket(ctx, t, uri)
	if err != nil {
		return nil, err
	}
	answer, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)})
	if err != nil {
		return nil, s3Failure(t, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxModelInput+1))
	if err != nil {
		return nil, s3Failure(t, err)
	}
	if len(body) > maxModelInput {
		return nil, &engine.TaskError{Name: "States.DataLimitExceeded",
			Cause: uri + " is larger than the 25,000,000 bytes that a model takes."}
	}
	return body, nil
}

// store writes an object of S3 for a task.
func (c *Caller) store(ctx context.Context, t *engine.Task, uri, body, kind string) error {
	client, bucket, key, err := c.bucket(ctx, t, uri)
	if err != nil {
		return err
	}
	in := &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(key), Body: bytes.NewReader([]byte(body))}
	if kind != "" {
		in.ContentType = aws.String(kind)
	}
	if _, err = client.PutObject(ctx, in); err != nil {
		return s3Failure(t, err)
	}
	return nil
}

// bucket finds the client of S3, and the bucket and key of s3://BUCKET/KEY.
func (c *Caller) bucket(ctx context.Context, t *engine.Task, uri string) (client *s3.Client, bucket, key string,
	err error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "s3" || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return nil, "", "", unusableParameters(t.Parameters,
			[]string{"The value of the field 'S3Uri' has an invalid format"})
	}
	v, err := c.client(ctx, service("s3"), c.account(t.RoleARN, jsonvalue.Value{}))
	if err != nil {
		return nil, "", "", s3Failure(t, err)
	}
	bucket, key, _ = strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
	return v.Interface().(*s3.Client), bucket, key, nil
}

// s3Failure is a failure of S3 as AWS SDK integrations name it.
func s3Failure(t *engine.Task, err error) error {
	s := service("s3")
	n := sdkNaming(s)
	return n.taskError(s, jsonvalue.Value{}, t.Parameters, err)
}
