package resource

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"stepback/aws"
	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/jsonvalue"
	"stepback/local/services/cloudformation/template"
)

// Identity says with whose permissions services are called if policies are enforced: those of Role if it is not empty,
// or else those of the owner of the access key Caller. If both are empty, the account itself makes the calls.
type Identity struct {
	Role   string `json:",omitempty"` // ARN
	Caller string `json:",omitempty"`
}

// Caller calls services at an endpoint by their models. Documents may have the form that they have in templates:
// texts are converted to the numbers and booleans of the model, and members may start with a capital letter even if
// the API's do not. A member that is not in the model is a *PropertyError.
type Caller struct {
	// Endpoint is the address. HTTP is the client that sends the calls; nil is http.DefaultClient.
	Endpoint string
	HTTP     *http.Client
	Scope    aws.Scope
	// AccessKey signs the calls; empty means the account's own.
	AccessKey string
}

// Call implements API.
func (c *Caller) Call(ctx context.Context, service, operation string, in, out any) error {
	s, err := model.Find(service)
	if err != nil {
		return err
	}
	o, err := s.Operation(operation)
	if err != nil {
		return err
	}
	r := &client.Request{Service: s, Operation: o}
	if in != nil {
		if r.Input, err = input(o, in); err != nil {
			return err
		}
	}
	answer, err := c.client().Call(ctx, r)
	if err != nil {
		return err
	}
	if answer.Body != nil {
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(answer.Output.JSON()), out); err != nil {
		return fmt.Errorf("the answer of %s:%s does not fit: %w", service, operation, err)
	}
	return nil
}

func (c *Caller) client() *client.Client {
	return &client.Client{Endpoint: c.Endpoint, Region: c.Scope.Region, HTTP: c.HTTP,
		Credentials: awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
			return awssdk.Credentials{AccessKeyID: cmp.Or(c.AccessKey, c.Scope.Account), SecretAccessKey: "cloudformation"}, nil
		})}
}

func input(o *model.Operation, in any) (jsonvalue.Value, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return jsonvalue.Value{}, err
	}
	if v, err = fit(o.Input, v, "#"); err != nil {
		return jsonvalue.Value{}, err
	}
	if text, err = json.Marshal(v); err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.Parse(string(text))
}

// fit converts a value to the form of a shape.
func fit(s *model.Shape, v any, path string) (any, error) {
	if v == nil || s == nil {
		return nil, nil //nolint:nilnil // null stays null
	}
	switch s.Type { //nolint:exhaustive // the others have no members
	case model.Structure:
		return fitStructure(s, v, path)
	case model.Map:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, mismatch(path, "object", v)
		}
		to := make(map[string]any, len(m))
		for k, e := range m {
			f, err := fit(s.Element.Shape, e, path+"/"+k)
			if err != nil {
				return nil, err
			}
			to[k] = f
		}
		return to, nil
	case model.List:
		l, ok := v.([]any)
		if !ok {
			return nil, mismatch(path, "list", v)
		}
		to := make([]any, len(l))
		for i, e := range l {
			f, err := fit(s.Element.Shape, e, fmt.Sprintf("%s/%d", path, i))
			if err != nil {
				return nil, err
			}
			to[i] = f
		}
		return to, nil
	}
	return fitScalar(s, v, path)
}

func fitStructure(s *model.Shape, v any, path string) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, mismatch(path, "object", v)
	}
	to := make(map[string]any, len(m))
	for k, e := range m {
		member := s.Member(k)
		if member == nil {
			member = s.Member(lowerFirst(k))
		}
		if member == nil {
			return nil, &PropertyError{Problems: []string{path + ": extraneous key [" + k + "] is not permitted"}}
		}
		f, err := fit(member.Shape, e, path+"/"+k)
		if err != nil {
			return nil, err
		}
		to[member.Name] = f
	}
	return to, nil
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

func mismatch(path, want string, got any) error {
	return &PropertyError{Problems: []string{fmt.Sprintf("%s: expected type: %s, found: %s", path, want,
		template.JSON(got))}}
}

func fitScalar(s *model.Shape, v any, path string) (any, error) {
	switch s.Type { //nolint:exhaustive // the others are not scalars
	case model.String, model.Blob:
		if text, ok := template.TextOf(v); ok {
			return text, nil
		}
		return nil, mismatch(path, "String", v)
	case model.Boolean:
		text, _ := template.TextOf(v)
		switch strings.ToLower(text) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, mismatch(path, "Boolean", v)
	case model.Integer, model.Long, model.Float, model.Double:
		if text, ok := template.TextOf(v); ok && json.Valid([]byte(strings.TrimSpace(text))) {
			return json.Number(strings.TrimSpace(text)), nil
		}
		return nil, mismatch(path, "Number", v)
	case model.Timestamp:
		text, ok := template.TextOf(v)
		if _, number := v.(json.Number); number || !ok {
			return v, nil
		}
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02"} {
			if t, err := time.Parse(layout, text); err == nil {
				return json.Number(model.OfTime(t).JSON()), nil
			}
		}
		return nil, mismatch(path, "Timestamp", v)
	}
	return v, nil
}

// Object reads an object from S3; version may be empty.
func (c *Caller) Object(ctx context.Context, bucket, key, version string) ([]byte, error) {
	s, err := model.Find("s3")
	if err != nil {
		return nil, err
	}
	o, err := s.Operation("GetObject")
	if err != nil {
		return nil, err
	}
	in := map[string]any{"Bucket": bucket, "Key": key}
	set(in, "VersionId", version)
	r := &client.Request{Service: s, Operation: o}
	if r.Input, err = input(o, in); err != nil {
		return nil, err
	}
	answer, err := c.client().Call(ctx, r)
	if err != nil {
		return nil, err
	}
	if answer.Body == nil {
		return nil, nil
	}
	defer answer.Body.Close()
	return io.ReadAll(io.LimitReader(answer.Body, template.MaxBytes+1))
}
