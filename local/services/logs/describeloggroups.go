package logs

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type describeLogGroupsRequest struct {
	Prefix      string   `json:"logGroupNamePrefix"`
	Pattern     string   `json:"logGroupNamePattern"`
	Class       string   `json:"logGroupClass"`
	Identifiers []string `json:"logGroupIdentifiers"`
	paged
}

type describedGroup struct {
	Name          string `json:"logGroupName"`
	Created       int64  `json:"creationTime"`
	RetentionDays int    `json:"retentionInDays,omitempty"`
	MetricFilters int    `json:"metricFilterCount"`
	ARN           string `json:"arn"`
	Bytes         *int64 `json:"storedBytes,omitempty"`
	KMSKeyID      string `json:"kmsKeyId,omitempty"`
	Class         string `json:"logGroupClass"`
	PlainARN      string `json:"logGroupArn"`
	Protected     *bool  `json:"deletionProtectionEnabled,omitempty"`
}

type describeLogGroupsResponse struct {
	Groups    []describedGroup `json:"logGroups"`
	NextToken string           `json:"nextToken,omitempty"`
}

func (s *Service) describeLogGroups(_ context.Context, scope aws.Scope,
	r *describeLogGroupsRequest) (*describeLogGroupsResponse, error) {
	if r.Prefix != "" && r.Pattern != "" {
		return nil, invalid("LogGroup name prefix and LogGroup name pattern are mutually exclusive parameters.")
	}
	found := s.store.Groups(in(scope), r.selects)
	found, next, err := page(r.paged, s.now(), []string{"groups", scope.Account, scope.Region, r.Prefix, r.Pattern},
		found,
		func(g logstore.Group) string { return g.Name })
	if err != nil {
		return nil, err
	}
	out := &describeLogGroupsResponse{Groups: make([]describedGroup, len(found)), NextToken: next}
	for i, g := range found {
		arn := groupARN(scope, g.Name)
		out.Groups[i] = describedGroup{
			Name: g.Name, Created: g.Created, RetentionDays: g.RetentionDays, ARN: arn + ":*", PlainARN: arn,
			MetricFilters: len(g.MetricFilters), KMSKeyID: g.KMSKeyID, Class: cmp.Or(g.Class, "STANDARD"),
		}
		if r.Pattern == "" { // a search by pattern returns fewer members
			out.Groups[i].Bytes, out.Groups[i].Protected = &g.Bytes, &g.Protected
		}
	}
	return out, nil
}

// selects reports whether a request includes the log group, judging by its name.
func (r *describeLogGroupsRequest) selects(name string) bool {
	if len(r.Identifiers) > 0 && !slices.ContainsFunc(r.Identifiers,
		func(id string) bool { return nameOf(id) == name }) {
		return false
	}
	return strings.HasPrefix(name, r.Prefix) && strings.Contains(strings.ToLower(name), strings.ToLower(r.Pattern))
}
