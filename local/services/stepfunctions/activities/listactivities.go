package activities

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/paging"
	"stepback/local/services/stepfunctions/resource"
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

func (s *Service) listActivities(_ context.Context, scope aws.Scope, in *paging.Request) (*listActivitiesResponse,
	error) {
	prefix := resource.ActivityARN(scope, "")
	activities, err := s.cfg.Store.Activities(prefix)
	if err != nil {
		return nil, err
	}
	listed := make([]listedActivity, len(activities))
	for i, a := range activities {
		listed[i] = listedActivity{a.ARN, a.Name, server.Time(a.Created)}
	}
	out := &listActivitiesResponse{}
	asked := aws.NewListing(s.cfg.Now(), "activities", prefix)
	out.Activities, out.NextToken, err = paging.Cut(*in, asked, listed, func(a listedActivity) string {
		return paging.OldestFirst(time.Time(a.Created), a.ARN)
	})
	return out, err
}
