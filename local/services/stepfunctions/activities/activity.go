package activities

import (
	"errors"
	"maps"
	"time"

	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/configuration"
	"stepback/local/services/stepfunctions/resource"
)

// Activity is an activity: a name under which workers receive the tasks of state machines.
type Activity struct {
	ARN, Name  string
	Created    time.Time
	Encryption configuration.Encryption
	Tags       map[string]string
}

// Clone returns a copy that shares nothing with the activity.
func (a *Activity) Clone() *Activity {
	c := *a
	c.Tags = maps.Clone(a.Tags)
	return &c
}

// activity returns an activity.
func (s *Service) activity(scope aws.Scope, at *resource.ARN) (*Activity, error) {
	if at.Scope != scope {
		return nil, apierror.NoActivity(at.Text)
	}
	a, err := s.cfg.Store.Activity(at.Text)
	if errors.Is(err, ErrNotFound) {
		err = apierror.NoActivity(at.Text)
	}
	return a, err
}

// Tags implements tags.Resources.
func (s *Service) Tags(scope aws.Scope, at *resource.ARN) (map[string]string, error) {
	a, err := s.activity(scope, at)
	if err != nil {
		return nil, err
	}
	return a.Tags, nil
}

// ChangeTags implements tags.Resources.
func (s *Service) ChangeTags(scope aws.Scope, at *resource.ARN, change func(map[string]string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.activity(scope, at)
	if err != nil {
		return err
	}
	if err := change(a.Tags); err != nil {
		return err
	}
	return s.cfg.Store.PutActivity(a)
}
