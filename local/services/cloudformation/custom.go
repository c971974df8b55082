package cloudformation

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
)

// ResponsePath is the path, at the platform's address, to which custom resources and wait conditions respond; it is
// followed by a token.
const ResponsePath = "/_stepback/cloudformation/response/"

const (
	customType     = "AWS::CloudFormation::CustomResource"
	customPrefix   = "Custom::"
	handleType     = "AWS::CloudFormation::WaitConditionHandle"
	waitType       = "AWS::CloudFormation::WaitCondition"
	defaultService = 3600 // maximum duration of a custom resource in seconds
)

func isCustom(name string) bool { return name == customType || strings.HasPrefix(name, customPrefix) }

func newToken() string { return aws.NewID() }

// ofRecord holds the deployment and the resource that an operation on one of the engine's own types is about.
type ofRecord struct {
	d *deployment
	r *record
}

type recordKey struct{}

func withRecord(ctx context.Context, d *deployment, r *record) context.Context {
	return context.WithValue(ctx, recordKey{}, ofRecord{d, r})
}

func recordOf(ctx context.Context) ofRecord {
	o, _ := ctx.Value(recordKey{}).(ofRecord)
	return o
}

// own returns a type that the engine implements itself; nil for other types.
func (s *Service) own(name string) *resource.Type {
	switch {
	case isCustom(name):
		return &resource.Type{Name: name, Create: s.customCreate, Update: s.customUpdate, Delete: s.customDelete}
	case name == stackType:
		return &resource.Type{
			Name: name, Properties: nestedProperties, Create: s.nestedCreate, Update: s.nestedUpdate,
			Delete: s.nestedDelete,
		}
	case name == handleType:
		return &resource.Type{
			Name: name, Properties: map[string]resource.Property{},
			Create: func(ctx context.Context, _ *resource.Request) (resource.State, error) {
				return resource.State{ID: s.responseURL(recordOf(ctx).r.Token)}, nil
			},
			Delete: func(_ context.Context, r *resource.Request) error {
				return s.change(func(k *keeper) error {
					k.b.DeleteAll(s.table, responseKey(tokenOf(r.ID), ""))
					return nil
				})
			},
		}
	case name == waitType:
		return &resource.Type{
			Name: name,
			Properties: map[string]resource.Property{"Handle": {Required: true, Replaces: true},
				"Timeout": {Required: true, Replaces: true}, "Count": {Replaces: true}},
			Create: s.waitCreate,
			Delete: func(context.Context, *resource.Request) error { return nil },
		}
	}
	return nil
}

func (s *Service) responseURL(token string) string { return s.opts.Endpoint + ResponsePath + token }

func tokenOf(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// response is the response of a custom resource.
type response struct {
	Status             string
	Reason             string         `json:",omitempty"`
	PhysicalResourceID string         `json:"PhysicalResourceId"`
	NoEcho             bool           `json:",omitempty"`
	Data               map[string]any `json:",omitempty"`
	// UniqueID is set for wait conditions, whose data may be a text.
	UniqueID string `json:"UniqueId,omitempty"`
}

// stringified converts all scalars in a value to texts, the form in which custom resources receive them.
func stringified(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = stringified(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = stringified(e)
		}
		return l
	}
	if text, ok := template.TextOf(v); ok {
		return text
	}
	return v
}

func (s *Service) customCreate(ctx context.Context, r *resource.Request) (resource.State, error) {
	return s.custom(ctx, r, "Create")
}

func (s *Service) customUpdate(ctx context.Context, r *resource.Request) (resource.State, error) {
	return s.custom(ctx, r, "Update")
}

func (s *Service) customDelete(ctx context.Context, r *resource.Request) error {
	if r.ID == "" {
		return nil
	}
	_, err := s.custom(ctx, r, "Delete")
	return err
}

// custom calls the provider of a custom resource and waits for its response.
func (s *Service) custom(ctx context.Context, r *resource.Request, kind string) (resource.State, error) {
	of := recordOf(ctx)
	provider, _ := r.Properties["ServiceToken"].(string)
	if provider == "" {
		return resource.State{}, &resource.PropertyError{Problems: []string{"#: required key [ServiceToken] not found"}}
	}
	seconds := defaultService
	if text, ok := template.TextOf(r.Properties["ServiceTimeout"]); ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > defaultService {
			return resource.State{}, &resource.PropertyError{Problems: []string{
				"#/ServiceTimeout: must be a number of seconds from 1 to 3600"}}
		}
		seconds = n
	}
	token := of.r.Token
	asked := map[string]any{"RequestType": kind, "ServiceToken": provider, "ResponseURL": s.responseURL(token),
		"StackId": r.StackID, "RequestId": token, "ResourceType": r.Type, "LogicalResourceId": r.LogicalID,
		"ResourceProperties": stringified(r.Properties)}
	if kind != "Create" {
		asked["PhysicalResourceId"] = r.ID
	}
	if kind == "Update" {
		asked["OldResourceProperties"] = stringified(r.Previous)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return resource.State{}, err
	}
	changed := s.expect(token)
	defer s.forgetExpected(token)
	invoked := make(chan error, 1)
	invoking, stop := context.WithCancel(ctx)
	s.opts.Clock.Go(invoking, &s.deployments, 0, func(ctx context.Context) {
		invoked <- s.provide(ctx, r, provider, body)
		changed.Ring()
	})
	defer func() {
		if invoked != nil { // the rest of the invocation does not matter; Close waits for its end
			stop()
		}
	}()
	end := s.now().Add(time.Duration(seconds) * time.Second)
	defer s.opts.Clock.Schedule(end, changed).Stop()
	defer of.d.waits.ring(changed)()
	for {
		if a, ok, err := s.answer(token); err != nil || ok {
			if err != nil {
				return resource.State{}, err
			}
			return s.answeredState(of, r, a, kind)
		}
		switch {
		case len(invoked) > 0:
			err := <-invoked
			invoked = nil
			if err != nil {
				return resource.State{}, err
			}
		case !s.now().Before(end):
			return resource.State{}, invalid("CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [%s]. If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version.",
				token)
		case r.GiveUp.Err() != nil:
			return resource.State{}, context.Cause(r.GiveUp) //nolint:contextcheck // its cause is the error
		default:
			if err := changed.Await(ctx); err != nil {
				return resource.State{}, err
			}
		}
	}
}

// provide sends a request to its provider, a function or a topic.
func (s *Service) provide(ctx context.Context, r *resource.Request, provider string, body []byte) error {
	arn, ok := aws.ParseARN(provider)
	switch {
	case ok && arn.Service == "sns":
		return r.Call(ctx, "sns", "Publish", map[string]any{"TopicArn": provider, "Message": string(body),
			"Subject": "AWS CloudFormation custom resource request"}, nil)
	case ok && arn.Service == "lambda":
	default:
		return invalid("Invalid service token: %s is the ARN of neither a function nor a topic", provider)
	}
	// The function is invoked synchronously, whereas AWS invokes it asynchronously: an error that it throws is then
	// reported as the reason, instead of a timeout after an hour.
	var out struct{ FunctionError, Payload string }
	if err := r.Call(ctx, "lambda", "Invoke", map[string]any{"FunctionName": provider,
		"Payload": base64.StdEncoding.EncodeToString(body)}, &out); err != nil {
		return err
	}
	if out.FunctionError == "" {
		return nil
	}
	text, err := base64.StdEncoding.DecodeString(out.Payload)
	if err != nil {
		text = []byte(out.Payload)
	}
	return invalid("The function of the custom resource failed before it answered: %s", text)
}

// mostResponse is the maximum length of a custom resource's response, in bytes.
const mostResponse = 4096

func (s *Service) answeredState(of ofRecord, r *resource.Request, a response, kind string) (resource.State, error) {
	switch {
	case a.Status == "FAILED":
		return resource.State{ID: keptID(a, r, kind)}, invalid("Received response status [FAILED] from custom resource. Message returned: %s (RequestId: %s)",
			a.Reason, of.r.Token)
	case a.Status != "SUCCESS":
		return resource.State{}, invalid("Invalid response status [%s] from custom resource", a.Status)
	case a.PhysicalResourceID == "" && kind != "Delete":
		return resource.State{}, invalid("Invalid PhysicalResourceId")
	}
	s.mu.Lock()
	of.r.NoEcho = a.NoEcho
	s.mu.Unlock()
	data := a.Data
	if data == nil {
		data = map[string]any{}
	}
	return resource.State{ID: keptID(a, r, kind), Attributes: data}, nil
}

// keptID returns the physical ID after a response. After a failed creation there is something to delete only if the
// response contains an ID.
func keptID(a response, r *resource.Request, kind string) string {
	if a.PhysicalResourceID == "" || kind == "Delete" {
		return r.ID
	}
	return a.PhysicalResourceID
}
