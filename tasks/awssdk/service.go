package awssdk

import (
	"errors"
	"strings"

	"stepback/aws/model"
)

// service is one AWS service that tasks can call: its model, and what Step Functions knows of it beyond that.
type service struct {
	*model.Service
	particulars
}

// particulars are what Step Functions does for one service alone.
type particulars struct {
	// variable is what Step Functions Local calls the service's endpoint, where it is not made of the service's ID.
	variable string
	// translated are the shapes that the SDK for Java throws instead of others, by operation and code.
	translated map[string]string
	// base64 says that bytes are always in Base64, in parameters as in results.
	base64 bool
	// missing words the refusal of a request whose required member is null.
	missing func(member string) (code, message string)
}

// particular are the services that Step Functions, Step Functions Local or the SDK for Java treat in their own way.
var particular = map[string]particulars{
	"cloudwatchlogs": {variable: "CLOUDWATCHLOGS_ENDPOINT"},
	"dynamodb":       {base64: true},
	"eventbridge":    {variable: "EVENTS_ENDPOINT"},
	"s3": {
		translated: map[string]string{"HeadObject:NotFound": "NoSuchKey", "HeadBucket:NotFound": "NoSuchBucket"},
	},
	"sagemaker": {variable: "SAGE_MAKER_ENDPOINT"},
	"sfn":       {variable: "STEP_FUNCTIONS_ENDPOINT"},
	"sqs": {missing: func(member string) (code, message string) {
		return "MissingParameter", "The request must contain the parameter " + member + "."
	}},
}

// serviceOf finds a service by its name in a Resource. The error is an *unsupportedError, or says what is damaged.
func serviceOf(name string) (*service, error) {
	m, err := model.Find(name)
	var unknown *model.UnknownServiceError
	if errors.As(err, &unknown) {
		return nil, &unsupportedError{"The service " + name + " is not supported" + meant(unknown.Similar)}
	}
	if err != nil {
		return nil, err
	}
	return &service{m, particular[name]}, nil
}

func meant(names []string) string {
	if len(names) == 0 {
		return "."
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}

// action finds an operation by its name in a Resource, getItem, or by the model's. The error is an *unsupportedError,
// or says what is damaged.
func (s *service) action(name string) (*model.Operation, error) {
	o, err := s.Action(name)
	var unknown *model.UnknownOperationError
	if errors.As(err, &unknown) {
		return nil, &unsupportedError{"The action " + name + " of the service " + s.Name + " is not supported" +
			meant(unknown.Similar)}
	}
	if err == nil && o.EventStream() {
		return nil, &unsupportedError{"The action " + name + " of the service " + s.Name +
			" is not supported: it sends or answers a stream of events."}
	}
	return o, err
}

// unsupportedError is a Resource that no task can have.
type unsupportedError struct{ why string }

// Error implements error.
func (e *unsupportedError) Error() string { return e.why }

// localVariable is the service's endpoint variable as Step Functions Local names it.
func (s *service) localVariable() string {
	if s.variable != "" {
		return s.variable
	}
	return variableOf(s.ID) + "_ENDPOINT"
}

// environment is the service's endpoint variable as the AWS SDKs name it.
func (s *service) environment() string { return model.EndpointVariable(s.ID) }

// variableOf is how the AWS SDKs write a service's ID in the names of variables.
func variableOf(id string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(id))
}
