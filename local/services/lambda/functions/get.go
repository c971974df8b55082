package functions

import (
	"stepback/aws"
)

// Function is a version of a function together with the properties of the function as a whole.
type Function struct {
	Configuration Configuration
	Tags          map[string]string
	Reserved      *int // reserved concurrency; nil if none is reserved
}

// Get returns a version of a function. qualifier is a version, an alias or empty.
func (s *Service) Get(scope aws.Scope, name, qualifier string) (*Function, error) {
	_, r, err := s.find(scope, name, ending(qualifier))
	if err != nil {
		return nil, err
	}
	c, ok := r.version(qualifier)
	if !ok {
		return nil, notFound("Function not found: %s:%s", arnOf(scope, name), qualifier)
	}
	shown := *c
	if qualifier != "" { // the ARN names what was requested, even an alias
		shown.FunctionArn = arnOf(scope, name) + ":" + qualifier
	}
	return &Function{shown, r.Tags, r.Reserved}, nil
}

func ending(qualifier string) string {
	if qualifier == "" {
		return ""
	}
	return ":" + qualifier
}
