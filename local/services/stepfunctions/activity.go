package stepfunctions

import (
	"errors"
	"maps"
	"time"

	"stepback/aws"
)

// Activity is an activity: a name under which workers receive the tasks of state machines.
type Activity struct {
	ARN, Name  string
	Created    time.Time
	Encryption Encryption
	Tags       map[string]string
}

func (a *Activity) clone() *Activity {
	c := *a
	c.Tags = maps.Clone(a.Tags)
	return &c
}

// HasActivity returns a function that reports whether a store has an activity, for engines whose tasks refer to
// activities.
func HasActivity(s Store) func(arn string) (bool, error) {
	return func(arn string) (bool, error) {
		_, err := s.Activity(arn)
		if errors.Is(err, ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
}

func activityARNOf(s aws.Scope, name string) string {
	return arnOf(s, kindActivity, name)
}

func parseActivityARN(text string) (*resource, error) {
	at, err := parseARN(text, kindActivity)
	if err == nil && at.qualified() {
		err = invalidARN("Invalid ARN: " + text)
	}
	return at, err
}

// activity returns an activity.
func (s *Service) activity(scope aws.Scope, at *resource) (*Activity, error) {
	if at.scope != scope {
		return nil, noActivity(at.text)
	}
	a, err := s.cfg.Store.Activity(at.text)
	if errors.Is(err, ErrNotFound) {
		err = noActivity(at.text)
	}
	return a, err
}
