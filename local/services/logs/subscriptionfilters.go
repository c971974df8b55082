package logs

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

// maxSubscriptions is the maximum number of subscription filters per log group.
const maxSubscriptions = 2

type putSubscriptionFilterRequest struct {
	Group        string   `json:"logGroupName"`
	Name         string   `json:"filterName"`
	Pattern      string   `json:"filterPattern"`
	Destination  string   `json:"destinationArn"`
	Role         string   `json:"roleArn"`
	Distribution string   `json:"distribution"`
	Transformed  bool     `json:"applyOnTransformedLogs"`
	Criteria     string   `json:"fieldSelectionCriteria"`
	SystemFields []string `json:"emitSystemFields"`
}

type filterRequest struct {
	Group string `json:"logGroupName"`
	Name  string `json:"filterName"`
}

type describeSubscriptionFiltersRequest struct {
	Group  string `json:"logGroupName"`
	Prefix string `json:"filterNamePrefix"`
	paged
}

type describedSubscription struct {
	Name         string `json:"filterName"`
	Group        string `json:"logGroupName"`
	Pattern      string `json:"filterPattern"`
	Destination  string `json:"destinationArn"`
	Role         string `json:"roleArn,omitempty"`
	Distribution string `json:"distribution"`
	Transformed  bool   `json:"applyOnTransformedLogs"`
	Created      int64  `json:"creationTime"`
}

type describeSubscriptionFiltersResponse struct {
	Filters   []describedSubscription `json:"subscriptionFilters"`
	NextToken string                  `json:"nextToken,omitempty"`
}

func (s *Service) putSubscriptionFilter(_ context.Context, scope aws.Scope, r *putSubscriptionFilterRequest) (*none,
	error) {
	err := plain(r.Transformed, r.Criteria, "emitSystemFields", r.SystemFields)
	if err == nil {
		err = checkDestination(scope, r.Destination, r.Role)
	}
	if err == nil {
		_, err = parsePattern(r.Pattern)
	}
	if err == nil && s.invocable != nil && !s.invocable(scope, r.Destination) {
		err = invalid("Could not execute the lambda function. Make sure you have given CloudWatch Logs permission to execute " +
			"your function.")
	}
	if err != nil {
		return nil, err
	}
	now := s.now().UnixMilli()
	filter := logstore.Subscription{Name: r.Name, Pattern: r.Pattern, Destination: r.Destination, Role: r.Role,
		Distribution: r.Distribution, Created: now, Since: now}
	var refused error
	err = s.store.UpdateGroup(in(scope), r.Group, func(g *logstore.Group) {
		all := slices.Clone(g.Subscriptions)
		i := slices.IndexFunc(all, func(f logstore.Subscription) bool { return f.Name == r.Name })
		switch {
		case i >= 0:
			filter.Created = all[i].Created
			all[i] = filter
		case len(all) == maxSubscriptions:
			refused = errTooMany
		default:
			all = append(all, filter)
		}
		g.Subscriptions = all
	})
	if err == nil {
		err = refused
	}
	return &none{}, err
}

// plain returns an error if a filter has a member that is not supported.
func plain(transformed bool, criteria, emit string, fields []string) error {
	switch {
	case transformed:
		return invalid("applyOnTransformedLogs is not supported here: there are no log transformers.")
	case criteria != "":
		return invalid("fieldSelectionCriteria is not supported here.")
	case len(fields) > 0:
		return invalid(emit + " is not supported here.")
	}
	return nil
}

// checkDestination returns an error for destinations to which events cannot be delivered.
func checkDestination(scope aws.Scope, destination, role string) error {
	a, ok := aws.ParseARN(destination)
	switch {
	case ok && a.Service == "lambda" && a.Account != scope.Account:
		return &aws.Error{Code: "AccessDeniedException", Message: "Cross-account lambda invocation passing is not allowed. " +
			"You must use DestinationPolicies to create cross account lambda triggers."}
	case ok && role == "" && (a.Service == "kinesis" || a.Service == "firehose"):
		return invalid("destinationArn for vendor " + a.Service + " cannot be used without roleArn")
	case !ok:
		return invalid("Invalid destination ARN: " + destination)
	case a.Service == "lambda" && strings.HasPrefix(a.Resource, "function:"):
		return nil
	case a.Service == "kinesis", a.Service == "firehose", a.Service == "logs":
		return invalid("Destinations of " + a.Service + " are not supported here: log events are delivered to functions.")
	}
	return invalid("PutSubscriptionFilter operation cannot work with destinationArn for vendor " + a.Service)
}

func (s *Service) describeSubscriptionFilters(_ context.Context, scope aws.Scope,
	r *describeSubscriptionFiltersRequest) (*describeSubscriptionFiltersResponse, error) {
	g, _, err := s.store.Group(in(scope), r.Group)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(g.Subscriptions),
		func(f logstore.Subscription) bool { return !strings.HasPrefix(f.Name, r.Prefix) })
	slices.SortFunc(found, func(a, b logstore.Subscription) int { return strings.Compare(a.Name, b.Name) })
	found, next, err := page(r.paged, s.now(), []string{"subscriptions", scope.Account, scope.Region, r.Group, r.Prefix},
		found, func(f logstore.Subscription) string { return f.Name })
	if err != nil {
		return nil, err
	}
	out := &describeSubscriptionFiltersResponse{Filters: make([]describedSubscription, len(found)), NextToken: next}
	for i, f := range found {
		out.Filters[i] = describedSubscription{Name: f.Name, Group: r.Group, Pattern: f.Pattern,
			Destination: f.Destination, Role: f.Role, Distribution: cmp.Or(f.Distribution, "ByLogStream"),
			Created: f.Created}
	}
	return out, nil
}

func (s *Service) deleteSubscriptionFilter(_ context.Context, scope aws.Scope, r *filterRequest) (*none, error) {
	found := false
	err := s.store.UpdateGroup(in(scope), r.Group, func(g *logstore.Group) {
		before := len(g.Subscriptions)
		g.Subscriptions = slices.DeleteFunc(slices.Clone(g.Subscriptions),
			func(f logstore.Subscription) bool { return f.Name == r.Name })
		found = len(g.Subscriptions) < before
	})
	if err == nil && !found {
		err = errNoSubscription
	}
	return &none{}, err
}
