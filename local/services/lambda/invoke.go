package lambda

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"stepback/aws/server"
	"stepback/tasks/lambda/invocation"
)

// invoked is the response of Invoke, without the payload.
type invoked struct {
	StatusCode          int
	FunctionError       string `json:",omitempty"`
	LogResult           string `json:",omitempty"`
	ExecutedVersion     string `json:",omitempty"`
	DurableExecutionArn string `json:",omitempty"`
}

// invokeStreaming invokes a function synchronously and returns its response as an event stream: a chunk with the
// payload, and the end of the invocation.
func (s *Service) invokeStreaming(q *request) (*server.Answer, error) {
	if kind := q.text("InvocationType"); kind == "Event" {
		return nil, unparsable("the invocation type Event has no response")
	}
	out, err := s.invoke(q)
	if err != nil {
		return nil, err
	}
	said, _ := out.Output.(invoked)
	var b bytes.Buffer
	complete := map[string]string{}
	if said.LogResult != "" {
		complete["LogResult"] = said.LogResult
	}
	switch {
	case said.FunctionError != "":
		complete["ErrorCode"], complete["ErrorDetails"] = said.FunctionError, string(out.Payload)
	case len(out.Payload) > 0:
		err = event(&b, "PayloadChunk", "application/octet-stream", out.Payload)
	}
	if err != nil {
		return nil, err
	}
	end, err := json.Marshal(complete)
	if err != nil {
		return nil, err
	}
	if err := event(&b, "InvokeComplete", "application/json", end); err != nil {
		return nil, err
	}
	return &server.Answer{Output: struct{ StatusCode int }{said.StatusCode}, Payload: b.Bytes(),
		RequestID: out.RequestID}, nil
}

// event appends an event of a stream in AWS's encoding.
func event(b *bytes.Buffer, name, contentType string, payload []byte) error {
	m := eventstream.Message{Payload: payload}
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	m.Headers.Set(":event-type", eventstream.StringValue(name))
	m.Headers.Set(":content-type", eventstream.StringValue(contentType))
	return eventstream.NewEncoder().Encode(b, m)
}

// invoke invokes a function synchronously or asynchronously. The runner validates the payload.
func (s *Service) invoke(q *request) (*server.Answer, error) {
	client, err := base64.StdEncoding.DecodeString(q.text("ClientContext"))
	if err != nil {
		return nil, unparsable("the client context is not base64")
	}
	a, err := s.functions.Invoke(q.ctx, q.scope, &invocation.Request{
		FunctionName: q.text("FunctionName"), Qualifier: q.text("Qualifier"), Payload: q.Payload,
		ClientContext: client, Type: q.text("InvocationType"), LogType: q.text("LogType"),
		DurableExecutionName: q.text("DurableExecutionName"), TenantID: q.text("TenantId"),
	})
	if err != nil {
		return nil, err
	}
	said := invoked{StatusCode: a.StatusCode, FunctionError: a.FunctionError, ExecutedVersion: a.ExecutedVersion,
		DurableExecutionArn: a.DurableExecutionARN,
		LogResult:           base64.StdEncoding.EncodeToString(a.LogTail)}
	return &server.Answer{Output: said, Payload: a.Payload, RequestID: a.RequestID}, nil
}
