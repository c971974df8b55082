package awssdk

import (
	"context"
	"io"
	"net/url"
	"strings"

	"stepback/aws/client"
	"stepback/engine"
	"stepback/jsonvalue"
)

// maxModelInput is the maximum size of an S3 object that is sent to a model, in bytes. It is the service's limit.
const maxModelInput = 25_000_000

// modelInput returns the request to a model. If Input is set, the request's body is read from S3. modelOutput
// handles Output.
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

// modelOutput writes the body of a model's response to S3 if Output specifies it, and replaces the body in the result
// by its location.
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

// modelAnswer replaces the body of a model's response by its value if the body is JSON.
func modelAnswer(result jsonvalue.Value) jsonvalue.Value {
	body, _ := result.Get("Body")
	if v, err := jsonvalue.Parse(body.Text()); err == nil && strings.TrimSpace(body.Text()) != "" {
		return result.With("Body", v)
	}
	return result
}

// s3Location returns the S3 URI in a member of the parameters, or "" if there is none.
func s3Location(params jsonvalue.Value, member string) string {
	v, _ := params.Get(member)
	uri, _ := v.Get("S3Uri")
	return uri.Text()
}

// object reads an S3 object for a task.
func (c *Caller) object(ctx context.Context, t *engine.Task, uri string) ([]byte, error) {
	answer, o, err := c.bucket(ctx, t, "GetObject", uri, &client.Request{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxModelInput+1))
	if err != nil {
		return nil, s3Failure(o, t, err)
	}
	if len(body) > maxModelInput {
		return nil, engine.NewFailure("States.DataLimitExceeded",
			uri+" is larger than the 25,000,000 bytes that a model takes.")
	}
	return body, nil
}

// store writes an S3 object for a task.
func (c *Caller) store(ctx context.Context, t *engine.Task, uri, body, kind string) error {
	request := &client.Request{Body: strings.NewReader(body)}
	if kind != "" {
		request.Input = request.Input.With("ContentType", jsonvalue.OfString(kind))
	}
	_, _, err := c.bucket(ctx, t, "PutObject", uri, request)
	return err
}

// bucket calls an operation on the object s3://BUCKET/KEY.
func (c *Caller) bucket(ctx context.Context, t *engine.Task, action, uri string, request *client.Request) (
	*client.Response, *operation, error,
) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "s3" || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return nil, nil, unusableParameters(t.Parameters,
			[]string{"The value of the field 'S3Uri' has an invalid format"})
	}
	s, err := serviceOf("s3")
	if err != nil {
		return nil, nil, err
	}
	o, err := c.find(ctx, s, action, c.account(t.RoleARN, jsonvalue.Value{}))
	if err != nil {
		return nil, nil, s3Failure(&operation{service: s}, t, err)
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
	request.Service, request.Operation = s.Service, o.model
	request.Input = request.Input.With("Bucket", jsonvalue.OfString(bucket)).With("Key", jsonvalue.OfString(key))
	r, err := o.client.Call(ctx, request)
	if err != nil {
		return nil, nil, s3Failure(o, t, err)
	}
	return r, o, nil
}

// s3Failure returns an error of S3 in the form of AWS SDK integrations.
func s3Failure(o *operation, t *engine.Task, err error) error {
	n := sdkNaming(o.service)
	return n.taskError(o, jsonvalue.Value{}, t.Parameters, err)
}
