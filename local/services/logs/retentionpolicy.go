package logs

import (
	"context"
	"fmt"
	"slices"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

// retentions lists the allowed retention periods in days.
var retentions = []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
	3288, 3653}

type putRetentionPolicyRequest struct {
	Group string `json:"logGroupName"`
	Days  int    `json:"retentionInDays"`
}

func (s *Service) putRetentionPolicy(_ context.Context, scope aws.Scope, r *putRetentionPolicyRequest) (*none, error) {
	if !slices.Contains(retentions, r.Days) {
		return nil, invalid(fmt.Sprintf("1 validation error detected: Value '%d' at 'retentionInDays' failed to satisfy constraint: Member must satisfy enum value set: %d", r.Days, retentions))
	}
	return &none{}, s.store.UpdateGroup(in(scope), r.Group, func(g *logstore.Group) { g.RetentionDays = r.Days })
}

func (s *Service) deleteRetentionPolicy(_ context.Context, scope aws.Scope, r *groupRequest) (*none, error) {
	return &none{}, s.store.UpdateGroup(in(scope), r.Group, func(g *logstore.Group) { g.RetentionDays = 0 })
}
