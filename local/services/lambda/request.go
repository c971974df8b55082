package lambda

import (
	"cmp"
	"context"
	"net/http"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/tasks/lambda/invocation"
)

// request is a call of an operation.
type request struct {
	*server.Request
	ctx   context.Context //nolint:containedctx // a request is one call
	scope aws.Scope
	// name is the function that the request names.
	name invocation.Name
}

// requestOf determines which function a request is about.
func requestOf(ctx context.Context, r *server.Request) (*request, error) {
	q := &request{Request: r, ctx: ctx, scope: r.Scope}
	for _, member := range []string{"FunctionName", "Resource"} {
		if text := q.text(member); text != "" && mappingIn(text) == "" {
			return q, q.setName(text, q.text("Qualifier"))
		}
	}
	return q, nil
}

// text returns a string member of the request, or "" if it is missing.
func (q *request) text(member string) string {
	v, _ := q.Input.Get(member)
	return v.Text()
}

// setName sets the function that a request is about. If text is an ARN, it also sets the ARN's scope.
func (q *request) setName(text, qualifier string) error {
	n, err := invocation.ParseName(text, qualifier)
	if err != nil {
		return err
	}
	if n.Region != "" && n.Region != q.scope.Region {
		return &aws.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound, Message: "Functions from '" + n.Region +
			"' are not reachable in this region ('" + q.scope.Region + "')"}
	}
	q.name = n
	q.scope.Account, q.scope.Region = cmp.Or(n.Account, q.scope.Account), cmp.Or(n.Region, q.scope.Region)
	return nil
}

// unqualified returns an error if a request names a version or alias, which its operation does not support.
func (q *request) unqualified() error {
	if q.name.Qualifier == "" || q.name.Qualifier == "$LATEST" {
		return nil
	}
	return invalid("This operation is permitted on Lambda functions only. Aliases and versions do not support this operation. " +
		"Please specify either a function name or an unqualified function ARN.")
}

// untagged returns an error if a request about tags names a version or alias.
func (q *request) untagged() error {
	if q.name.Qualifier == "" {
		return nil
	}
	return invalid("Tags on function aliases and versions are not supported. Please specify either a function name or an " +
		"unqualified function ARN.")
}

func invalid(message string) *aws.Error {
	return &aws.Error{Code: "InvalidParameterValueException", Status: http.StatusBadRequest, Message: message}
}

// decode decodes a request into an In.
func decode[In any](q *request) (*In, error) {
	in := new(In)
	return in, server.Fill(in, q.Input)
}
