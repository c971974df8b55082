package lambda

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"

	"stepback/aws/server/awsjson"
	"stepback/services/lambda/invocation"
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
	a, err := s.functions.Invoke(q.Context(), q.scope, in)
	if err != nil {
		s.refuse(w, err)
		return
	}
	h := w.Header()
	h.Set("X-Amzn-Requestid", a.RequestID)
	switch in.Type {
	case invocation.Event, invocation.DryRun:
		w.WriteHeader(a.StatusCode)
		return
	}
	h.Set("X-Amz-Executed-Version", a.ExecutedVersion)
	if a.FunctionError != "" {
		h.Set("X-Amz-Function-Error", a.FunctionError)
	}
	if in.WantsLog() {
		h.Set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(a.LogTail))
	}
	s.send(w, a.StatusCode, a.Payload)
}

// invocation reads the call. Its payload is checked, and bounded, by what runs the function.
func (q *request) invocation() (*invocation.Request, error) {
	fields := map[string]any{}
	for member, header := range map[string]string{"InvocationType": "X-Amz-Invocation-Type",
		"LogType": "X-Amz-Log-Type"} {
		if value := q.Header.Get(header); value != "" {
			fields[member] = value
		}
	}
	if err := check(invokeMembers, fields); err != nil {
		return nil, err
	}
	client, err := base64.StdEncoding.DecodeString(q.Header.Get("X-Amz-Client-Context"))
	if err != nil {
		return nil, unparsable(errors.New("the client context is not base64"))
	}
	payload, err := io.ReadAll(io.LimitReader(q.Body, invocation.MaxRequestBytes+1))
	if err != nil {
		return nil, unparsable(err)
	}
	return &invocation.Request{
		FunctionName: q.PathValue("function"), Qualifier: q.URL.Query().Get("Qualifier"), Payload: payload,
		ClientContext: client, LogType: q.Header.Get("X-Amz-Log-Type"), Type: q.Header.Get("X-Amz-Invocation-Type"),
	}, nil
}
