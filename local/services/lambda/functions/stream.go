package functions

import (
	"cmp"

	"stepback/tasks/lambda/invocation"
)

// inOnePiece writes the response of a function that does not stream to the request's stream. Errors stay in the answer.
func inOnePiece(r *invocation.Request, a *invocation.Answer, err error) (*invocation.Answer, error) {
	if err != nil || r.Stream == nil || a.Streamed || a.FunctionError != "" || r.Type == invocation.DryRun {
		return a, err
	}
	begun := *a
	begun.Streamed, begun.Payload, begun.ContentType = true, nil, cmp.Or(a.ContentType, "application/json")
	if err := r.Stream.Begin(&begun); err != nil {
		return nil, err
	}
	if len(a.Payload) > 0 {
		if _, err := r.Stream.Write(a.Payload); err != nil {
			return nil, err
		}
	}
	return &begun, nil
}
