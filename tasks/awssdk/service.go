package awssdk

import (
	"errors"
	"strings"

	"stepback/aws/model"
)

// service is an AWS service that tasks can call: its model, and Step Functions' special treatment of it.
type service struct {
	*model.Service
	particulars
}

// particulars holds Step Functions' special treatment of a service.
type particulars struct {
	// variable is Step Functions Local's variable for the service's endpoint. It is empty if the variable is
	// derived from the service's ID.
	variable string
	// translated holds the shapes that the SDK for Java throws in place of others, by operation and code.
	translated map[string]string
	// base64 is true if bytes are always in Base64, in parameters as in results.
	base64 bool
	// missing returns the service's error for a request whose required member is null.
	missing func(member string) (code, message string)
}

// particular holds the services that Step Functions, Step Functions Local or the SDK for Java treat specially.
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

// serviceOf returns the service with a name in a Resource. The error is an *unsupportedError, or describes a damaged
// model.
func serviceOf(name string) (*service, error) {
	m, err := model.Find(name)
	var unknown *model.UnknownServiceError
	var closed *model.ClosedServiceError
	if errors.As(err, &unknown) {
		if errors.As(model.CheckAction(name, ""), &closed) {
			return nil, &unsupportedError{"AWS has closed " + closed.Product + ", the service " + name + "."}
		}
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

// action returns the operation with a name as in a Resource, such as getItem, or as in the model. The error is an
// *unsupportedError, or describes a damaged model.
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

// unsupportedError is returned for a Resource whose service or action is not supported.
type unsupportedError struct{ why string }

// Error implements error.
func (e *unsupportedError) Error() string { return e.why }

// localVariable returns Step Functions Local's variable for the service's endpoint.
func (s *service) localVariable() string {
	if s.variable != "" {
		return s.variable
	}
	return variableOf(s.ID) + "_ENDPOINT"
}

// environment returns the AWS SDKs' variable for the service's endpoint.
func (s *service) environment() string { return model.EndpointVariable(s.ID) }

// variableOf returns a service's ID as the AWS SDKs write it in variable names.
func variableOf(id string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(id))
}
