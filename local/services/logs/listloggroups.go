package logs

import (
	"cmp"
	"context"
	"strings"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type listLogGroupsRequest struct {
	Pattern string   `json:"logGroupNamePattern"`
	Class   string   `json:"logGroupClass"`
	Sources []any    `json:"dataSources"`
	Fields  []string `json:"fieldIndexNames"`
	Tags    []any    `json:"logGroupTags"`
	paged
}

type listedGroup struct {
	Name  string `json:"logGroupName"`
	ARN   string `json:"logGroupArn"`
	Class string `json:"logGroupClass"`
}

type listLogGroupsResponse struct {
	Groups    []listedGroup `json:"logGroups"`
	NextToken string        `json:"nextToken,omitempty"`
}

func (s *Service) listLogGroups(
	_ context.Context,
	scope aws.Scope,
	r *listLogGroupsRequest,
) (*listLogGroupsResponse, error) {
	if len(r.Sources)+len(r.Fields)+len(r.Tags) > 0 {
		return nil, invalid("dataSources, fieldIndexNames and logGroupTags are not supported here.")
	}
	found := s.store.Groups(in(scope), r.selects)
	if r.Class != "" {
		of := found[:0]
		for _, g := range found {
			if cmp.Or(g.Class, "STANDARD") == r.Class {
				of = append(of, g)
			}
		}
		found = of
	}
	found, next, err := page(r.paged, s.now(), []string{"list", scope.Account, scope.Region, r.Pattern, r.Class}, found,
		func(g logstore.Group) string { return g.Name })
	if err != nil {
		return nil, err
	}
	out := &listLogGroupsResponse{Groups: make([]listedGroup, len(found)), NextToken: next}
	for i, g := range found {
		out.Groups[i] = listedGroup{g.Name, groupARN(scope, g.Name), cmp.Or(g.Class, "STANDARD")}
	}
	return out, nil
}

// selects reports whether a name matches one of the pattern's parts, which are separated by |. A name matches a
// part if it contains it or, if the part is preceded by ^, if it starts with it.
func (r *listLogGroupsRequest) selects(name string) bool {
	for _, part := range strings.Split(r.Pattern, "|") {
		if begin, ok := strings.CutPrefix(part, "^"); ok && strings.HasPrefix(name, begin) ||
			!ok && strings.Contains(name, part) {
			return true
		}
	}
	return false
}
