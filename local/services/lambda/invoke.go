package lambda

import (
	"encoding/base64"

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

// invokeStreaming invokes a function synchronously and returns its response as an event stream: chunks of the payload
// while the function writes them, and the end of the invocation. A function that does not stream has one chunk.
func (s *Service) invokeStreaming(q *request) (*server.Answer, error) {
	if kind := q.text("InvocationType"); kind == invocation.Event {
		return nil, unparsable("the invocation type Event has no response")
	}
	in, err := invocationOf(q)
	if err != nil {
		return nil, err
	}
	if q.Events == nil {
		return nil, unparsable("this protocol has no event streams")
	}
	chunks := &chunkStream{q.Events}
	in.Stream = chunks
	a, err := s.functions.Invoke(q.ctx, q.scope, in)
	switch {
	case err != nil:
		return nil, err
	case in.Type == invocation.DryRun:
		return &server.Answer{Output: invoked{StatusCode: a.StatusCode}, RequestID: a.RequestID}, nil
	}
	complete := invokeComplete{LogResult: base64.StdEncoding.EncodeToString(a.LogTail)}
	if a.FunctionError != "" {
		complete.ErrorCode, complete.ErrorDetails = a.FunctionError, string(a.Payload)
	}
	if !q.Events.Begun() { // failed before the first byte
		if err := chunks.Begin(a); err != nil {
			return nil, err
		}
	}
	return nil, q.Events.Send("InvokeComplete", complete)
}

// invokeComplete is the last event of a streamed invocation.
type invokeComplete struct {
	ErrorCode    string `json:",omitempty"`
	ErrorDetails string `json:",omitempty"`
	LogResult    string `json:",omitempty"`
}

// chunkStream sends a response as events. It implements invocation.Stream.
type chunkStream struct{ events *server.Events }

func (c *chunkStream) Begin(a *invocation.Answer) error {
	return c.events.Begin(&server.Answer{RequestID: a.RequestID,
		Output: invoked{StatusCode: a.StatusCode, ExecutedVersion: a.ExecutedVersion}})
}

func (c *chunkStream) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return len(p), c.events.Send("PayloadChunk", p)
}

// invoke invokes a function synchronously or asynchronously. The runner validates the payload.
func (s *Service) invoke(q *request) (*server.Answer, error) {
	in, err := invocationOf(q)
	if err != nil {
		return nil, err
	}
	a, err := s.functions.Invoke(q.ctx, q.scope, in)
	if err != nil {
		return nil, err
	}
	said := invoked{StatusCode: a.StatusCode, FunctionError: a.FunctionError, ExecutedVersion: a.ExecutedVersion,
		DurableExecutionArn: a.DurableExecutionARN,
		LogResult:           base64.StdEncoding.EncodeToString(a.LogTail)}
	return &server.Answer{Output: said, Payload: a.Payload, RequestID: a.RequestID}, nil
}

// invocationOf converts a request to an invocation.
func invocationOf(q *request) (*invocation.Request, error) {
	client, err := base64.StdEncoding.DecodeString(q.text("ClientContext"))
	if err != nil {
		return nil, unparsable("the client context is not base64")
	}
	return &invocation.Request{
		FunctionName: q.text("FunctionName"), Qualifier: q.text("Qualifier"), Payload: q.Payload,
		ClientContext: client, Type: q.text("InvocationType"), LogType: q.text("LogType"),
		DurableExecutionName: q.text("DurableExecutionName"), TenantID: q.text("TenantId"),
	}, nil
}
