package statemachines

import (
	"cmp"
	"context"
	"fmt"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

type publishRequest struct {
	ARN         string `json:"stateMachineArn"`
	RevisionID  string `json:"revisionId"`
	Description string `json:"description"`
}

type publishResponse struct {
	Created server.Time `json:"creationDate"`
	ARN     string      `json:"stateMachineVersionArn"`
}

// initialRevision is the API's name for a machine's first revision, whose ID the API does not show.
const initialRevision = "INITIAL"

func (s *Service) publishStateMachineVersion(_ context.Context, scope aws.Scope,
	in *publishRequest) (*publishResponse, error) {
	at, err := resource.ParseMachine(in.ARN)
	if err != nil {
		return nil, err
	}
	if at.Qualified() {
		return nil, apierror.NoMachine(in.ARN)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.changeable(scope, at)
	if err != nil {
		return nil, err
	}
	r, err := s.cfg.Store.Revision(m.Revision)
	if err != nil {
		return nil, err
	}
	if current := cmp.Or(r.shown(), initialRevision); in.RevisionID != "" && in.RevisionID != current {
		return nil, apierror.Conflict(fmt.Sprintf("Failed to publish the State Machine version for revision %s. The current State Machine revision is %s.",
			in.RevisionID, current))
	}
	if len(m.Versions) >= maxVersions && !m.published(m.Revision) {
		return nil, apierror.QuotaExceeded(fmt.Sprintf("The maximum number of versions of a state machine is %d.", maxVersions))
	}
	v := m.publish(in.Description, s.cfg.Now())
	return &publishResponse{server.Time(v.Created), v.ARN}, s.cfg.Store.PutMachine(m)
}
