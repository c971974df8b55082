package functions

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// EventInvokeSettings determines how asynchronous invocations of a function, a version or an alias are handled. A nil
// member means Lambda's default; in an update it stays unchanged.
type EventInvokeSettings struct {
	MaximumRetryAttempts     *int               `json:",omitempty"` // 0 to 2
	MaximumEventAgeInSeconds *int               `json:",omitempty"` // 60 to 21,600
	DestinationConfig        *DestinationConfig `json:",omitempty"`
}

// DestinationConfig names the destinations of asynchronous invocation records.
type DestinationConfig struct{ OnSuccess, OnFailure Destination }

// Destination is the ARN of a queue, a topic, a function or an event bus; empty means that no record is sent.
type Destination struct {
	Destination string `json:",omitempty"`
}

// EventInvokeConfig is the stored configuration of asynchronous invocations.
type EventInvokeConfig struct {
	EventInvokeSettings
	FunctionArn  string // including the qualifier
	LastModified time.Time
}

// PutEventInvokeConfig configures the asynchronous invocations that use qualifier; an empty qualifier means
// invocations without one. If update is true, the existing configuration is changed; otherwise it is replaced.
func (s *Service) PutEventInvokeConfig(ctx context.Context, scope aws.Scope, name, qualifier string,
	in *EventInvokeSettings, update bool) (*EventInvokeConfig, error) {
	if in.MaximumRetryAttempts == nil && in.MaximumEventAgeInSeconds == nil && in.DestinationConfig == nil {
		return nil, invalid("You must specify at least one of error handling or destination setting.")
	}
	qualifier = cmp.Or(qualifier, latest)
	if err := s.findQualified(scope, name, qualifier); err != nil {
		return nil, err
	}
	if d := in.DestinationConfig; d != nil {
		for _, to := range []Destination{d.OnSuccess, d.OnFailure} {
			if err := s.checkDestination(scope, name, to.Destination); err != nil {
				return nil, err
			}
		}
	}
	var made EventInvokeConfig
	_, err := s.change(ctx, scope, name, func(a *area, r *record) error {
		old, ok := r.EventInvoke[qualifier]
		if update {
			if !ok {
				return noEventInvokeConfig(a.scope, name, qualifier)
			}
			made = old
		}
		if _, ok := r.version(qualifier); !ok {
			return noFunction()
		}
		made.FunctionArn, made.LastModified = a.arn(name)+":"+qualifier, s.opts.Now().UTC()
		made.merge(in)
		if r.EventInvoke == nil {
			r.EventInvoke = map[string]EventInvokeConfig{}
		}
		r.EventInvoke[qualifier] = made
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &made, nil
}

// merge copies the members of in that are not nil.
func (s *EventInvokeSettings) merge(in *EventInvokeSettings) {
	s.MaximumRetryAttempts = cmp.Or(in.MaximumRetryAttempts, s.MaximumRetryAttempts)
	s.MaximumEventAgeInSeconds = cmp.Or(in.MaximumEventAgeInSeconds, s.MaximumEventAgeInSeconds)
	s.DestinationConfig = cmp.Or(in.DestinationConfig, s.DestinationConfig)
}

// EventInvokeConfig returns the configuration of asynchronous invocations that use qualifier.
func (s *Service) EventInvokeConfig(scope aws.Scope, name, qualifier string) (*EventInvokeConfig, error) {
	qualifier = cmp.Or(qualifier, latest)
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return nil, noEventInvokeConfig(scope, name, qualifier)
	}
	c, ok := r.EventInvoke[qualifier]
	if !ok {
		return nil, noEventInvokeConfig(scope, name, qualifier)
	}
	return &c, nil
}

// EventInvokeConfigs returns the configurations of a function, ordered by ARN.
func (s *Service) EventInvokeConfigs(scope aws.Scope, name string) ([]EventInvokeConfig, error) {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return nil, noFunction()
	}
	return slices.SortedFunc(maps.Values(r.EventInvoke), func(a, b EventInvokeConfig) int {
		return strings.Compare(a.FunctionArn, b.FunctionArn)
	}), nil
}

// DeleteEventInvokeConfig resets asynchronous invocations that use qualifier to Lambda's defaults.
func (s *Service) DeleteEventInvokeConfig(ctx context.Context, scope aws.Scope, name, qualifier string) error {
	qualifier = cmp.Or(qualifier, latest)
	if _, _, err := s.find(scope, name, ""); err != nil {
		return noFunction()
	}
	_, err := s.change(ctx, scope, name, func(a *area, r *record) error {
		if _, ok := r.EventInvoke[qualifier]; !ok {
			return noEventInvokeConfig(a.scope, name, qualifier)
		}
		delete(r.EventInvoke, qualifier)
		return nil
	})
	return err
}

// findQualified returns an error unless the function exists and has the version or alias.
func (s *Service) findQualified(scope aws.Scope, name, qualifier string) error {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return noFunction()
	}
	if _, ok := r.version(qualifier); !ok {
		return noFunction()
	}
	return nil
}

// checkDestination returns an error if no record can be sent to destination. It does not check whether a queue, a
// topic or a bus exists; if it does not, sending a record fails.
func (s *Service) checkDestination(scope aws.Scope, name, destination string) error {
	if destination == "" {
		return nil
	}
	to, ok := aws.ParseARN(destination)
	if !ok {
		return invalid("The destination ARN %s is invalid.", destination)
	}
	switch to.Service {
	case "sqs", "sns", "events":
	case "lambda":
		n, err := invocation.ParseName(destination, "")
		if err != nil {
			return invalid("The destination ARN %s is invalid.", destination)
		}
		if n.Function == name && to.Scope() == scope {
			return invalid("You can't specify the function as a destination for itself.")
		}
		if err := s.findQualified(to.Scope(), n.Function, cmp.Or(n.Qualifier, latest)); err != nil {
			return invalid("The destination ARN %s is invalid.", destination)
		}
	case "s3":
		return invalid("Buckets take no records here; name a queue, a topic, a function or an event bus instead of %s.",
			destination)
	default:
		return invalid("The destination ARN %s is invalid.", destination)
	}
	if s.opts.Deliver == nil {
		return invalid("No records can be sent here; leave DestinationConfig out.")
	}
	return nil
}

func noFunction() error { return notFound("The function doesn't exist.") }

func noEventInvokeConfig(scope aws.Scope, name, qualifier string) error {
	return notFound("The function %s:%s doesn't have an EventInvokeConfig", arnOf(scope, name), qualifier)
}
