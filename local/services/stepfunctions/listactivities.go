package stepfunctions

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

type listedActivity struct {
	ARN     string      `json:"activityArn"`
	Name    string      `json:"name"`
	Created server.Time `json:"creationDate"`
}

type listActivitiesResponse struct {
	Activities []listedActivity `json:"activities"`
	NextToken  string           `json:"nextToken,omitempty"`
}

func (s *Service) listActivities(_ context.Context, scope aws.Scope, in *paged) (*listActivitiesResponse, error) {
	activities, err := s.cfg.Store.Activities(activityARNOf(scope, ""))
	if err != nil {
		return nil, err
	}
	listed := make([]listedActivity, len(activities))
	for i, a := range activities {
		listed[i] = listedActivity{a.ARN, a.Name, server.Time(a.Created)}
	}
	out := &listActivitiesResponse{}
	out.Activities, out.NextToken, err = page(*in, s.listing("activities", activityARNOf(scope, "")), listed,
		func(a listedActivity) string {
			return oldestFirst(time.Time(a.Created), a.ARN)
		})
	return out, err
}
