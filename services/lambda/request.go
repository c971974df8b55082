package lambda

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"stepback/aws"
	"stepback/aws/server/awsjson"
	"stepback/services/lambda/runner"
)

// The largest requests, in bytes: those that bring code, and others.
const (
	maxCode = 70_167_211
	maxBody = 1 << 20
)

// request is one call of an operation.
type request struct {
	*http.Request
	writer http.ResponseWriter
	scope  aws.Scope
	// name is the function that the path names.
	name runner.Name
}

// request reads what the address and the signature of a request say.
func (s *Service) request(w http.ResponseWriter, r *http.Request) (*request, error) {
	scope := awsjson.ScopeOf(r, s.scope)
	q := &request{Request: r, writer: w, scope: aws.Scope{Account: scope.Account, Region: scope.Region}}
	text := r.PathValue("function")
	if text == "" {
		return q, nil
	}
	return q, q.setName(text, r.URL.Query().Get("Qualifier"))
}

// setName notes which function a request is about. An ARN decides about the scope, too.
func (q *request) setName(text, qualifier string) error {
	if err := check([]awsjson.Member{functionName}, map[string]any{"FunctionName": text}); err != nil {
		return err
	}
	n, err := runner.ParseName(text, qualifier)
	if err != nil {
		return err
	}
	q.name = n
	q.scope.Account, q.scope.Region = cmp.Or(n.Account, q.scope.Account), cmp.Or(n.Region, q.scope.Region)
	return nil
}

// decode reads a request's body into an In, after it was checked against the members of the model.
func decode[In any](q *request, most int64, members []awsjson.Member) (*In, error) {
	body, err := io.ReadAll(http.MaxBytesReader(q.writer, q.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &aws.Error{
			Code: "RequestEntityTooLargeException", Status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("Request must be smaller than %d bytes for this operation", most),
		}
	case err != nil:
		return nil, unparsable(err)
	case len(bytes.TrimSpace(body)) == 0:
		body = []byte("{}")
	}
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, unparsable(err)
	}
	if err := check(members, fields); err != nil {
		return nil, err
	}
	in := new(In)
	if err := json.Unmarshal(body, in); err != nil {
		return nil, unparsable(err)
	}
	return in, nil
}

func unparsable(err error) error {
	return &aws.Error{
		Code: "InvalidRequestContentException", Status: http.StatusBadRequest,
		Message: "Could not parse request body into json: " + err.Error(),
	}
}

// check compares a request with its model. Lambda's messages begin the names of members with a small letter.
func check(members []awsjson.Member, fields map[string]any) error {
	if err := awsjson.Check(members, small(members, fields)); err != nil {
		return err
	}
	return nil
}

// small is the part of the fields that members describe, under the members' own names.
func small(members []awsjson.Member, fields map[string]any) map[string]any {
	out := map[string]any{}
	for i := range members {
		m := &members[i]
		v := fields[strings.ToUpper(m.Name[:1])+m.Name[1:]]
		if inner, ok := v.(map[string]any); ok && len(m.Members) > 0 {
			v = small(m.Members, inner)
		}
		out[m.Name] = v
	}
	return out
}
