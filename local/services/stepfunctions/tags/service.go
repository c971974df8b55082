package tags

import (
	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

// Resources gives access to the tags of one kind of resource. An error is an *aws.Error if the resource does not
// exist.
type Resources interface {
	// Tags returns the tags of a resource.
	Tags(scope aws.Scope, at *resource.ARN) (map[string]string, error)
	// ChangeTags lets change modify the tags of a resource and stores them, unless change fails.
	ChangeTags(scope aws.Scope, at *resource.ARN, change func(tags map[string]string) error) error
}

// Service implements the operations. It is safe for concurrent use.
type Service struct {
	machines, activities Resources
}

// New returns the service for the tags of state machines and of activities.
func New(machines, activities Resources) *Service { return &Service{machines, activities} }

// Operations returns the operations by their names.
func (s *Service) Operations() map[string]server.Operation {
	return map[string]server.Operation{
		"TagResource":         server.Handle(s.tagResource),
		"UntagResource":       server.Handle(s.untagResource),
		"ListTagsForResource": server.Handle(s.listTagsForResource),
	}
}

// none is the response of operations that return nothing.
type none struct{}

// resources returns the Resources for the kind of resource in an ARN, and the parsed ARN.
func (s *Service) resources(arn string) (Resources, *resource.ARN, error) {
	at, err := resource.Parse(arn, resource.KindMachine, resource.KindActivity)
	switch {
	case err != nil:
		return nil, nil, err
	case at.Qualified():
		return nil, nil, apierror.ResourceNotFound(arn)
	case at.Kind == resource.KindActivity:
		return s.activities, at, nil
	default:
		return s.machines, at, nil
	}
}

// change calls f to modify the tags of the resource with an ARN.
func (s *Service) change(scope aws.Scope, arn string, f func(tags map[string]string) error) (*none, error) {
	of, at, err := s.resources(arn)
	if err != nil {
		return nil, err
	}
	if err := of.ChangeTags(scope, at, f); err != nil {
		return nil, notFound(err, arn)
	}
	return &none{}, nil
}

// notFound converts an error for a missing state machine or activity into ResourceNotFound, which the tag
// operations return.
func notFound(err error, arn string) error {
	if apierror.IsMissing(err) {
		return apierror.ResourceNotFound(arn)
	}
	return err
}
