package cloudwatch

import (
	"stepback/aws"
	"stepback/retrymetrics/metricmath"
)

// searchable returns the metric in the form that searches match.
func (m *Metric) searchable() metricmath.Metric {
	return metricmath.Metric{Namespace: m.Namespace, Name: m.Name, Dimensions: m.Dimensions}
}

// search returns the metrics that match a SEARCH query, at most 500, and their labels.
func (s *Service) search(scope aws.Scope, text string) ([]Metric, []string, error) {
	const most = 500
	q, err := metricmath.ParseSearch(text)
	if err != nil {
		return nil, nil, err
	}
	found, err := s.find(scope, func(k *known) bool {
		m := k.searchable()
		return q.Matches(&m)
	})
	found = found[:min(len(found), most)]
	all := make([]metricmath.Metric, len(found))
	for i := range found {
		all[i] = found[i].searchable()
	}
	return found, q.Labels(all), err
}
