package logs

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

// The limits of metric filters.
const (
	maxMetricFilters = 100
	maxDimensions    = 3
)

type metricTransformation struct {
	Metric     string            `json:"metricName"`
	Namespace  string            `json:"metricNamespace"`
	Value      string            `json:"metricValue"`
	Default    *float64          `json:"defaultValue,omitempty"`
	Dimensions map[string]string `json:"dimensions,omitempty"`
	Unit       string            `json:"unit,omitempty"`
}

type putMetricFilterRequest struct {
	Group           string                 `json:"logGroupName"`
	Name            string                 `json:"filterName"`
	Pattern         string                 `json:"filterPattern"`
	Transformations []metricTransformation `json:"metricTransformations"`
	Transformed     bool                   `json:"applyOnTransformedLogs"`
	Criteria        string                 `json:"fieldSelectionCriteria"`
	SystemFields    []string               `json:"emitSystemFieldDimensions"`
}

type describeMetricFiltersRequest struct {
	Group     string `json:"logGroupName"`
	Prefix    string `json:"filterNamePrefix"`
	Metric    string `json:"metricName"`
	Namespace string `json:"metricNamespace"`
	paged
}

type describedMetricFilter struct {
	Name            string                 `json:"filterName"`
	Pattern         string                 `json:"filterPattern"`
	Transformations []metricTransformation `json:"metricTransformations"`
	Created         int64                  `json:"creationTime"`
	Group           string                 `json:"logGroupName"`
	Transformed     bool                   `json:"applyOnTransformedLogs"`
}

type describeMetricFiltersResponse struct {
	Filters   []describedMetricFilter `json:"metricFilters"`
	NextToken string                  `json:"nextToken,omitempty"`
}

func (s *Service) putMetricFilter(_ context.Context, scope aws.Scope, r *putMetricFilterRequest) (*none, error) {
	t := &r.Transformations[0] // the model requires exactly one
	err := plain(r.Transformed, r.Criteria, "emitSystemFieldDimensions", r.SystemFields)
	if err == nil {
		_, err = parsePattern(r.Pattern)
	}
	if err == nil {
		err = t.check(r.Pattern)
	}
	if err != nil {
		return nil, err
	}
	filter := logstore.MetricFilter{Name: r.Name, Pattern: r.Pattern, Namespace: t.Namespace, Metric: t.Metric,
		Value: t.Value, Unit: t.Unit, Default: t.Default, Dimensions: t.Dimensions, Created: s.now().UnixMilli()}
	var refused error
	err = s.store.UpdateGroup(in(scope), r.Group, func(g *logstore.Group) {
		all := slices.Clone(g.MetricFilters)
		i := slices.IndexFunc(all, func(f logstore.MetricFilter) bool { return f.Name == r.Name })
		switch {
		case i >= 0:
			filter.Created = all[i].Created
			all[i] = filter
		case len(all) == maxMetricFilters:
			refused = errTooMany
		default:
			all = append(all, filter)
		}
		g.MetricFilters = all
	})
	if err == nil {
		err = refused
	}
	return &none{}, err
}

// check returns an error for transformations that yield no metric data.
func (t *metricTransformation) check(pattern string) error {
	refuse := func(message string) error { return invalid("Invalid metric transformation: " + message) }
	if len(t.Dimensions) > 0 && t.Default != nil {
		return refuse("dimensions and default value are mutually exclusive properties.")
	}
	if len(t.Dimensions) > maxDimensions {
		return refuse("a metric filter has at most 3 dimensions.")
	}
	document := strings.HasPrefix(strings.TrimSpace(pattern), "{")
	_, selects := selector(t.Value)
	if _, err := strconv.ParseFloat(t.Value, 64); err != nil && (!selects || !document) {
		return refuse("metricValue must be a number or, with a JSON filter pattern, a field such as $.latency.")
	}
	for name, field := range t.Dimensions {
		if _, ok := selector(field); !ok || !document {
			return refuse("the dimension " + name + " must be a field such as $.client of a JSON filter pattern.")
		}
	}
	return nil
}

func (s *Service) describeMetricFilters(_ context.Context, scope aws.Scope,
	r *describeMetricFiltersRequest) (*describeMetricFiltersResponse, error) {
	if r.Group != "" {
		if _, _, err := s.store.Group(in(scope), r.Group); err != nil {
			return nil, err
		}
	}
	var found []describedMetricFilter
	for _, g := range s.store.Groups(in(scope), func(name string) bool { return r.Group == "" || name == r.Group }) {
		for i := range g.MetricFilters {
			if f := &g.MetricFilters[i]; r.selects(f) {
				found = append(found, describedMetricFilter{Name: f.Name, Pattern: f.Pattern,
					Created: f.Created, Group: g.Name,
					Transformations: []metricTransformation{{f.Metric, f.Namespace, f.Value, f.Default,
						f.Dimensions, f.Unit}}})
			}
		}
	}
	slices.SortFunc(found, func(a, b describedMetricFilter) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name))
	})
	found, next, err := page(r.paged, s.now(),
		[]string{"metrics", scope.Account, scope.Region, r.Group, r.Prefix, r.Metric, r.Namespace}, found,
		func(f describedMetricFilter) string { return f.Group + "\x00" + f.Name })
	return &describeMetricFiltersResponse{append([]describedMetricFilter{}, found...), next}, err
}

// selects reports whether a request includes the filter.
func (r *describeMetricFiltersRequest) selects(f *logstore.MetricFilter) bool {
	return strings.HasPrefix(f.Name, r.Prefix) && (r.Metric == "" || r.Metric == f.Metric) &&
		(r.Namespace == "" || r.Namespace == f.Namespace)
}

func (s *Service) deleteMetricFilter(_ context.Context, scope aws.Scope, r *filterRequest) (*none, error) {
	found := false
	err := s.store.UpdateGroup(in(scope), r.Group, func(g *logstore.Group) {
		before := len(g.MetricFilters)
		g.MetricFilters = slices.DeleteFunc(slices.Clone(g.MetricFilters),
			func(f logstore.MetricFilter) bool { return f.Name == r.Name })
		found = len(g.MetricFilters) < before
	})
	if err == nil && !found {
		err = errNoMetricFilter
	}
	return &none{}, err
}
