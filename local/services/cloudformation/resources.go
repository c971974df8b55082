package cloudformation

import (
	"context"
	"encoding/json"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/cloudformation/template"
)

type resourceRequest struct {
	Stack    string `json:"StackName"`
	ID       string `json:"LogicalResourceId"`
	Physical string `json:"PhysicalResourceId"`
	Token    string `json:"NextToken"`
}

// resourceOf returns a resource in the form for responses. time is the name of the member that holds the time of
// its last change.
func (s *Service) resourceOf(st *stack, r *record, time string) map[string]any {
	m := map[string]any{"StackName": st.Name, "StackId": st.ID, "LogicalResourceId": r.ID, "ResourceType": r.Type,
		time: timeOf(r.Updated), "ResourceStatus": r.Status, "DriftInformation": r.Drift.information()}
	if r.Physical != "" {
		m["PhysicalResourceId"] = r.Physical
	}
	if r.Reason != "" {
		m["ResourceStatusReason"] = r.Reason
	}
	return m
}

func (s *Service) describeStackResource(_ context.Context, scope aws.Scope, in *resourceRequest) (*struct {
	Detail map[string]any `json:"StackResourceDetail"`
}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.find(scope, in.Stack)
	if err != nil {
		return nil, invalid("Stack '%s' does not exist", in.Stack)
	}
	r := st.resources[in.ID]
	if r == nil {
		return nil, invalid("Resource %s does not exist for stack %s", in.ID, in.Stack)
	}
	m := s.resourceOf(st, r, "LastUpdatedTimestamp")
	m["Metadata"] = "{}"
	if r.Metadata != nil {
		m["Metadata"] = template.JSON(r.Metadata)
	}
	return &struct {
		Detail map[string]any `json:"StackResourceDetail"`
	}{m}, nil
}

func (s *Service) describeStackResources(_ context.Context, scope aws.Scope, in *resourceRequest) (*struct {
	Resources []map[string]any `json:"StackResources"`
}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var st *stack
	switch {
	case in.Stack != "" && in.Physical != "":
		return nil, invalid("Both StackName and PhysicalResourceId cannot be specified")
	case in.Stack != "":
		found, err := s.find(scope, in.Stack)
		if err != nil {
			return nil, err
		}
		st = found
	case in.Physical != "":
		for _, other := range s.all(scope) {
			for _, r := range other.resources {
				if r.Physical == in.Physical && r.exists() {
					st = other
				}
			}
		}
		if st == nil {
			return nil, invalid("Stack for %s does not exist", in.Physical)
		}
	default:
		return nil, invalid("StackName or PhysicalResourceId must be specified")
	}
	list := []map[string]any{}
	for _, id := range st.ids() {
		if in.ID == "" || in.ID == id {
			list = append(list, s.resourceOf(st, st.resources[id], "Timestamp"))
		}
	}
	if in.ID != "" && len(list) == 0 {
		return nil, invalid("Resource %s does not exist for stack %s", in.ID, st.Name)
	}
	return &struct {
		Resources []map[string]any `json:"StackResources"`
	}{list}, nil
}

func (s *Service) listStackResources(_ context.Context, scope aws.Scope, in *resourceRequest) (*struct {
	Summaries []map[string]any `json:"StackResourceSummaries"`
	Next      string           `json:"NextToken,omitempty"`
}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.find(scope, in.Stack)
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(st.ids(), in.Token, stacksPage)
	list := []map[string]any{}
	for _, id := range page {
		m := s.resourceOf(st, st.resources[id], "LastUpdatedTimestamp")
		delete(m, "StackName")
		delete(m, "StackId")
		list = append(list, m)
	}
	return &struct {
		Summaries []map[string]any `json:"StackResourceSummaries"`
		Next      string           `json:"NextToken,omitempty"`
	}{list, next}, err
}

// shownEvent decodes a stored event and returns it in the form for DescribeStackEvents.
func shownEvent(st *stack, value []byte) (map[string]any, error) {
	var e event
	if err := json.Unmarshal(value, &e); err != nil {
		return nil, err
	}
	m := map[string]any{"StackId": st.ID, "StackName": st.Name, "EventId": e.ID, "PhysicalResourceId": e.Physical,
		"Timestamp": server.Time(time.UnixMilli(e.At).UTC()), "LogicalResourceId": e.LogicalID, "ResourceType": e.Type,
		"ResourceStatus": e.Status}
	for name, v := range map[string]string{"ResourceStatusReason": e.Reason,
		"ResourceProperties": e.Properties, "ClientRequestToken": e.Token, "OperationId": e.Operation} {
		if v != "" {
			m[name] = v
		}
	}
	return m, nil
}
