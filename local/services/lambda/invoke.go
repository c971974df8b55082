package lambda

import (
	"encoding/base64"

	"stepback/aws/server"
	"stepback/tasks/lambda/invocation"
)

// invoked is the response of Invoke, without the payload.
type invoked struct {
	StatusCode      int
	FunctionError   string `json:",omitempty"`
	LogResult       string `json:",omitempty"`
	ExecutedVersion string `json:",omitempty"`
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
	})
	if err != nil {
		return nil, err
	}
	said := invoked{StatusCode: a.StatusCode, FunctionError: a.FunctionError, ExecutedVersion: a.ExecutedVersion,
		LogResult: base64.StdEncoding.EncodeToString(a.LogTail)}
	return &server.Answer{Output: said, Payload: a.Payload, RequestID: a.RequestID}, nil
}
