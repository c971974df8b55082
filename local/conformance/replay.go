package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// Service runs the steps of a case.
type Service interface {
	// Call makes an API call. Later placeholders refer to raw, the unchanged response; the judge gets answer, the
	// normalised one. It returns an error if the call could not be made at all.
	Call(ctx context.Context, s *Step, params map[string]any) (answer *Answer, raw map[string]any, err error)
	// Wait runs a wait step for an execution or, if the step lists executions, for a state machine.
	Wait(ctx context.Context, s *Step, arn string) error
}

// Replay runs the programs of a case and judges the responses. A call that fails unexpectedly ends the main program.
func Replay(ctx context.Context, c *Case, names *Names, on Service) (*Verdict, error) {
	beside := background{on: on, names: names}
	verdict, err := replay(ctx, c, names, on, &beside)
	return verdict, errors.Join(err, beside.wait())
}

func replay(ctx context.Context, c *Case, names *Names, on Service, beside *background) (*Verdict, error) {
	judge := NewJudge(c, names)
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Thread != nil {
			beside.begin(ctx, c, *s.Thread)
			continue
		}
		if s.Wait != "" {
			if err := on.Wait(ctx, s, names.Text(cmp.Or(s.MachineARN, s.ExecutionARN))); err != nil {
				return nil, fmt.Errorf("step %d, %s: %w", s.N, s.Wait, err)
			}
			continue
		}
		answer, err := call(ctx, s, names, on)
		if err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", s.N, s.Op, err)
		}
		if !judge.Judge(s, answer) {
			break
		}
	}
	return &judge.Verdict, nil
}

// call makes the API call of a step and stores the response for later ones.
func call(ctx context.Context, s *Step, names *Names, on Service) (*Answer, error) {
	filled, err := names.Params(s.Params)
	if err != nil {
		return nil, err
	}
	params, _ := filled.(map[string]any)
	answer, raw, err := on.Call(ctx, s, params)
	if err == nil {
		names.Answered(s.N, raw)
	}
	return answer, err
}

// Reply parses the response to an API call over HTTP, and returns it normalised and unchanged. status is the HTTP
// status, body is JSON.
func Reply(status int, body []byte) (*Answer, map[string]any, error) {
	var raw, result map[string]any // two trees, because normalising modifies one
	if err := decode(body, &raw); err != nil {
		return nil, nil, fmt.Errorf("status %d, %s: %w", status, body, err)
	}
	if status >= http.StatusBadRequest {
		code, _ := raw["__type"].(string)
		message, _ := raw["message"].(string)
		return &Answer{Code: code, Message: message}, raw, nil
	}
	if err := decode(body, &result); err != nil {
		return nil, nil, err
	}
	result["ResponseMetadata"] = map[string]any{"HTTPStatusCode": json.Number(strconv.Itoa(status))}
	Normalise(result)
	return &Answer{Result: result}, raw, nil
}
