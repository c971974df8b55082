package events

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// usualRate is the default rate of calls to an API destination, per second.
const usualRate = 300

// destination is the stored form of an API destination.
type destination struct {
	Account, Region, Name, ID string
	Description               string `json:",omitempty"`
	Connection                string // ARN
	Endpoint, Method          string
	Rate                      int64 // calls a second
	Created, Modified         int64 // milliseconds since 1970
}

func (d *destination) scope() aws.Scope { return aws.Scope{Account: d.Account, Region: d.Region} }
func (d *destination) arn() string {
	return d.scope().ARN("events", "api-destination/"+d.Name+"/"+d.ID)
}
func (d *destination) key() string {
	return "destination/" + d.Account + "/" + d.Region + "/" + d.Name
}

type destinationRequest struct {
	Name, ConnectionArn, InvocationEndpoint string
	HTTPMethod                              string `json:"HttpMethod"`
	Description                             *string
	InvocationRateLimitPerSecond            int64
}

type destinationAnswer struct {
	ApiDestinationArn, ApiDestinationState string //nolint:revive // as the model writes it
	CreationTime, LastModifiedTime         server.Time
}

type listedDestination struct {
	ApiDestinationArn, Name, ApiDestinationState  string //nolint:revive // as the model writes it
	ConnectionArn, InvocationEndpoint, HttpMethod string //nolint:revive // as the model writes it
	InvocationRateLimitPerSecond                  int64
	CreationTime, LastModifiedTime                server.Time
}

type describeDestinationAnswer struct {
	listedDestination
	Description string `json:",omitempty"`
}

// stateOf returns ACTIVE if the connection is authorized, and INACTIVE otherwise.
func (s *Service) stateOf(d *destination) string {
	if c, err := s.connectionOfARN(d.Connection); err != nil || c.State != authorized {
		return "INACTIVE"
	}
	return "ACTIVE"
}

func (s *Service) listed(d *destination) listedDestination {
	return listedDestination{d.arn(), d.Name, s.stateOf(d), d.Connection, d.Endpoint, d.Method, d.Rate,
		timeOf(d.Created), timeOf(d.Modified)}
}

// set applies a request to a destination.
func (in *destinationRequest) set(s *Service, d *destination) error {
	if in.ConnectionArn != "" {
		if _, err := s.connectionOfARN(in.ConnectionArn); err != nil {
			return err
		}
		d.Connection = in.ConnectionArn
	}
	if in.InvocationEndpoint != "" {
		u, err := url.Parse(strings.ReplaceAll(in.InvocationEndpoint, "*", "x"))
		if err != nil || u.Host == "" {
			return invalid("Parameter InvocationEndpoint is not valid.")
		}
		d.Endpoint = in.InvocationEndpoint
	}
	if in.HTTPMethod != "" {
		d.Method = in.HTTPMethod
	}
	if in.Description != nil {
		d.Description = *in.Description
	}
	if in.InvocationRateLimitPerSecond > 0 {
		d.Rate = in.InvocationRateLimitPerSecond
	}
	d.Modified = s.now().UnixMilli()
	return nil
}

func (s *Service) findDestination(scope aws.Scope, name string) (*destination, error) {
	d := &destination{Account: scope.Account, Region: scope.Region, Name: name}
	found, err := getJSON(s.table, d.key(), d)
	if err == nil && !found {
		err = notFound("Failed to describe the api-destination(s). An api-destination '%s' does not exist.", name)
	}
	return d, err
}

func (s *Service) createDestination(_ context.Context, scope aws.Scope, in *destinationRequest) (*destinationAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.findDestination(scope, in.Name); err == nil {
		return nil, exists("An api-destination '%s' already exists.", in.Name)
	} else if !isRefusal(err) {
		return nil, err
	}
	d := &destination{Account: scope.Account, Region: scope.Region, Name: in.Name, ID: aws.NewID(), Rate: usualRate,
		Created: s.now().UnixMilli()}
	if err := in.set(s, d); err != nil {
		return nil, err
	}
	return s.answerOf(d), s.keepJSON(d.key(), d)
}

func (s *Service) answerOf(d *destination) *destinationAnswer {
	return &destinationAnswer{d.arn(), s.stateOf(d), timeOf(d.Created), timeOf(d.Modified)}
}

func (s *Service) updateDestination(_ context.Context, scope aws.Scope, in *destinationRequest) (*destinationAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.findDestination(scope, in.Name)
	if err != nil {
		return nil, err
	}
	if err := in.set(s, d); err != nil {
		return nil, err
	}
	return s.answerOf(d), s.keepJSON(d.key(), d)
}

func (s *Service) describeDestination(_ context.Context, scope aws.Scope, in *destinationRequest) (
	*describeDestinationAnswer, error) {
	d, err := s.findDestination(scope, in.Name)
	if err != nil {
		return nil, err
	}
	return &describeDestinationAnswer{s.listed(d), d.Description}, nil
}

func (s *Service) deleteDestination(_ context.Context, scope aws.Scope, in *destinationRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.findDestination(scope, in.Name)
	if err != nil {
		return nil, err
	}
	return &none{}, s.forget(d.key())
}

type listDestinationsRequest struct {
	paged
	NamePrefix, ConnectionArn string
}

type destinationsAnswer struct {
	ApiDestinations []listedDestination //nolint:revive // as the model writes it
	NextToken       string              `json:",omitempty"`
}

func (s *Service) listDestinations(_ context.Context, scope aws.Scope, in *listDestinationsRequest) (*destinationsAnswer,
	error) {
	all := []listedDestination{}
	prefix := (&destination{Account: scope.Account, Region: scope.Region, Name: in.NamePrefix}).key()
	if err := s.table.Scan(prefix, func(_ string, text []byte) error {
		var d destination
		err := json.Unmarshal(text, &d)
		if err == nil && (in.ConnectionArn == "" || in.ConnectionArn == d.Connection) {
			all = append(all, s.listed(&d))
		}
		return err
	}); err != nil {
		return nil, err
	}
	part, next, err := page(s, in.paged, []string{"ListApiDestinations", prefix, in.ConnectionArn}, all,
		func(d listedDestination) string { return d.Name })
	return &destinationsAnswer{part, next}, err
}
