package logstore

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/local/services/delivery"
)

// Deliver appends the message as an event to the log group with an ARN, in a separate stream as EventBridge does; see
// delivery.Target. It returns once the event is written. The error is an *aws.Error, or that of the write.
func (s *Store) Deliver(_ context.Context, to aws.ARN, m *delivery.Message) error {
	name, ok := strings.CutPrefix(to.Resource, "log-group:")
	name = strings.TrimSuffix(name, ":*")
	if !ok {
		return &aws.Error{Code: "ValidationException", Message: to.String() + " is not the ARN of a log group"}
	}
	err := s.Put(to.Scope(), name, aws.NewID(), []Event{{Time: s.now().UnixMilli(), Message: m.Body}})
	if errors.Is(err, ErrNoGroup) {
		return &aws.Error{Code: "ResourceNotFoundException", Message: "The specified log group does not exist."}
	}
	return err
}
