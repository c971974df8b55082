package activities

import (
	"errors"

	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/services/stepfunctions/apierror"
)

// reported returns the response to a worker's report (success, failure or heartbeat) for a task token. err is the
// engine's error for the report.
func reported(err error) (*none, error) {
	var syntax *jsonvalue.SyntaxError
	switch {
	case err == nil:
		return &none{}, nil
	case errors.Is(err, engine.ErrInvalidToken):
		return nil, apierror.ErrToken
	case errors.Is(err, engine.ErrNoTask):
		return nil, apierror.New("TaskDoesNotExist", "Task Does Not Exist", "Provided task does not exist")
	case errors.Is(err, engine.ErrTaskTimedOut):
		return nil, apierror.New("TaskTimedOut", "Task Timed Out", "Provided task does not exist anymore")
	case errors.Is(err, engine.ErrOutput) && errors.As(err, &syntax):
		return nil, apierror.New("InvalidOutput", "Invalid Output", syntax.Message)
	}
	return nil, err
}
