package lambda

import (
	"encoding/base64"

	"stepback/aws/server"
	"stepback/services/lambda/runner"
)

// invoked is the answer of Invoke beside its payload.
type invoked struct {
	StatusCode      int
	FunctionError   string `json:",omitempty"`
	LogResult       string `json:",omitempty"`
	ExecutedVersion string `json:",omitempty"`
}

// invoke calls a function, now or later. Its payload is checked by what runs the function.
func (s *Service) invoke(q *request) (*server.Answer, error) {
	client, err := base64.StdEncoding.DecodeString(q.text("ClientContext"))
	if err != nil {
		return nil, unparsable("the client context is not base64")
	}
	in := runner.InvokeInput{
		FunctionName: q.text("FunctionName"), Qualifier: q.text("Qualifier"), Payload: q.Payload,
		ClientContext: client, LogTail: q.text("LogType") == "Tail",
	}
	switch q.text("InvocationType") {
	case "DryRun":
		const noContent = 204
		return answer(invoked{StatusCode: noContent}, s.functions.CheckInvoke(q.scope, in))
	case "Event":
		const accepted = 202
		id, err := s.functions.InvokeEvent(q.scope, in)
		if err != nil {
			return nil, err
		}
		return &server.Answer{Output: invoked{StatusCode: accepted}, RequestID: id}, nil
	default:
		return s.invokeNow(q, in)
	}
}

func (s *Service) invokeNow(q *request, in runner.InvokeInput) (*server.Answer, error) {
	out, err := s.functions.Invoke(q.ctx, q.scope, in)
	if err != nil {
		return nil, err
	}
	said := invoked{StatusCode: out.StatusCode, FunctionError: out.FunctionError, ExecutedVersion: out.ExecutedVersion}
	if in.LogTail {
		said.LogResult = base64.StdEncoding.EncodeToString(out.LogTail)
	}
	return &server.Answer{Output: said, Payload: out.Payload, RequestID: out.RequestID}, nil
}
