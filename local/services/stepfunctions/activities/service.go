package activities

import (
	"errors"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/local/services/stepfunctions/paging"
)

// ErrNotFound reports that a Store does not have an activity.
var ErrNotFound = errors.New("activities: no such activity")

// Store stores activities. Implementations are safe for concurrent use. The records they return belong to the
// caller.
type Store interface {
	// Activity returns an activity by its ARN, or ErrNotFound.
	Activity(arn string) (*Activity, error)
	// Activities returns the activities whose ARNs start with prefix, in order of creation.
	Activities(prefix string) ([]*Activity, error)
	PutActivity(a *Activity) error
	DeleteActivity(arn string) error
}

// Config holds the dependencies of a Service. All are required.
type Config struct {
	Store Store
	// Engine returns the engine of an account and region, which hands out the tasks of its activities.
	Engine func(aws.Scope) (*engine.Engine, error)
	Now    func() time.Time
}

// Service implements the operations. It is safe for concurrent use.
type Service struct {
	cfg     Config
	created paging.CreationTimes
	mu      sync.Mutex // serializes changes of activities
}

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// Operations returns the operations by their names.
func (s *Service) Operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateActivity":    server.Handle(s.createActivity),
		"DescribeActivity":  server.Handle(s.describeActivity),
		"DeleteActivity":    server.Handle(s.deleteActivity),
		"ListActivities":    server.Handle(s.listActivities),
		"GetActivityTask":   server.Handle(s.getActivityTask),
		"SendTaskSuccess":   server.Handle(s.sendTaskSuccess),
		"SendTaskFailure":   server.Handle(s.sendTaskFailure),
		"SendTaskHeartbeat": server.Handle(s.sendTaskHeartbeat),
	}
}

// none is the response of operations that return nothing.
type none struct{}
