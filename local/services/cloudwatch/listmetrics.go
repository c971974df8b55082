package cloudwatch

import (
	"context"
	"maps"
	"slices"
	"time"

	"stepback/aws"
)

type dimensionFilter struct {
	Name  string
	Value *string
}

type listMetricsRequest struct {
	Namespace  string
	Name       string `json:"MetricName"`
	Dimensions []dimensionFilter
	Recent     string `json:"RecentlyActive"`
	NextToken  string
}

type listMetricsAnswer struct {
	Metrics        []Metric
	NextToken      string   `json:",omitempty"`
	OwningAccounts []string `json:",omitempty"`
}

func (s *Service) listMetrics(_ context.Context, scope aws.Scope, in *listMetricsRequest) (*listMetricsAnswer, error) {
	const size, recent = 500, 3 * time.Hour
	since := s.opts.Clock.Now().Add(-14 * 24 * time.Hour)
	if in.Recent != "" {
		since = s.opts.Clock.Now().Add(-recent)
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	found, err := s.find(scope, func(k *known) bool {
		if in.Namespace != "" && k.Namespace != in.Namespace || in.Name != "" && k.Name != in.Name || k.Last < since.Unix() {
			return false
		}
		for _, f := range in.Dimensions {
			value, ok := k.dimension(f.Name)
			if !ok || f.Value != nil && *f.Value != value {
				return false
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "metrics", scopeKey(scope), in.Namespace, in.Name), in.NextToken,
		size, found, func(m Metric) string { return m.text() })
	if !ok {
		return nil, invalidToken()
	}
	return &listMetricsAnswer{Metrics: page, NextToken: next}, nil
}

// find returns the metrics of a scope for which wanted is true, in a fixed order.
func (s *Service) find(scope aws.Scope, wanted func(*known) bool) ([]Metric, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.registered()
	if err != nil {
		return nil, err
	}
	found := []Metric{}
	for _, key := range slices.Sorted(maps.Keys(r.of)) {
		if k := r.of[key]; k.scope == scope && wanted(k) {
			found = append(found, k.Metric)
		}
	}
	return found, nil
}
