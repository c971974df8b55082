package lambda

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"

	"stepback/aws/server/awsjson"
	"stepback/services/lambda/runner"
)

var invokeMembers = []awsjson.Member{
	{Name: "invocationType", Enum: []string{"Event", "RequestResponse", "DryRun"}},
	{Name: "logType", Enum: []string{"None", "Tail"}},
}

// invoke serves Invoke, whose request and answer are bytes with headers.
func (s *Service) invoke(w http.ResponseWriter, r *http.Request) {
	s.begin(w)
	q, err := s.request(w, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	in, err := q.invocation()
	if err != nil {
		s.refuse(w, err)
		return
	}
	switch r.Header.Get("X-Amz-Invocation-Type") {
	case "DryRun":
		err = s.functions.CheckInvoke(q.scope, in)
		if err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
	case "Event":
		err = s.invokeEvent(q, in)
	default:
		err = s.invokeNow(q, in)
	}
	if err != nil {
		s.refuse(w, err)
	}
}

func (s *Service) invokeEvent(q *request, in runner.InvokeInput) error {
	id, err := s.functions.InvokeEvent(q.scope, in)
	if err != nil {
		return err
	}
	q.writer.Header().Set("X-Amzn-Requestid", id)
	q.writer.WriteHeader(http.StatusAccepted)
	return nil
}

func (s *Service) invokeNow(q *request, in runner.InvokeInput) error {
	out, err := s.functions.Invoke(q.Context(), q.scope, in)
	if err != nil {
		return err
	}
	h := q.writer.Header()
	h.Set("X-Amzn-Requestid", out.RequestID)
	h.Set("X-Amz-Executed-Version", out.ExecutedVersion)
	if out.FunctionError != "" {
		h.Set("X-Amz-Function-Error", out.FunctionError)
	}
	if in.LogTail {
		h.Set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(out.LogTail))
	}
	s.send(q.writer, out.StatusCode, out.Payload)
	return nil
}

// invocation reads the call. Its payload is checked, and bounded, by what runs the function.
func (q *request) invocation() (runner.InvokeInput, error) {
	fields := map[string]any{}
	for member, header := range map[string]string{"InvocationType": "X-Amz-Invocation-Type",
		"LogType": "X-Amz-Log-Type"} {
		if value := q.Header.Get(header); value != "" {
			fields[member] = value
		}
	}
	if err := check(invokeMembers, fields); err != nil {
		return runner.InvokeInput{}, err
	}
	client, err := base64.StdEncoding.DecodeString(q.Header.Get("X-Amz-Client-Context"))
	if err != nil {
		return runner.InvokeInput{}, unparsable(errors.New("the client context is not base64"))
	}
	payload, err := io.ReadAll(io.LimitReader(q.Body, runner.MaxRequestBytes+1))
	if err != nil {
		return runner.InvokeInput{}, unparsable(err)
	}
	return runner.InvokeInput{
		FunctionName: q.PathValue("function"), Qualifier: q.URL.Query().Get("Qualifier"), Payload: payload,
		ClientContext: client, LogTail: q.Header.Get("X-Amz-Log-Type") == "Tail",
	}, nil
}
