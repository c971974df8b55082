package logs

import (
	"context"
	"encoding/json"
	"strings"

	"stepback/aws"
)

type testMetricFilterRequest struct {
	Pattern  string   `json:"filterPattern"`
	Messages []string `json:"logEventMessages"`
}

type metricFilterMatch struct {
	Number    int64             `json:"eventNumber"`
	Message   string            `json:"eventMessage"`
	Extracted map[string]string `json:"extractedValues"`
}

type testMetricFilterResponse struct {
	Matches []metricFilterMatch `json:"matches"`
}

func (s *Service) testMetricFilter(_ context.Context, _ aws.Scope,
	r *testMetricFilterRequest) (*testMetricFilterResponse, error) {
	matches, err := parsePattern(r.Pattern)
	if err != nil {
		return nil, err
	}
	out := &testMetricFilterResponse{Matches: []metricFilterMatch{}}
	for i, message := range r.Messages {
		if matches(message) {
			out.Matches = append(out.Matches, metricFilterMatch{int64(i) + 1, message, extracted(r.Pattern, message)})
		}
	}
	return out, nil
}

// extracted returns the values of the fields that a JSON pattern names, by selector.
func extracted(pattern, message string) map[string]string {
	values := map[string]string{}
	inner, ok := strings.CutPrefix(strings.TrimSpace(pattern), "{")
	p := &jsonPattern{}
	var document any
	if !ok || !p.split(strings.TrimSuffix(inner, "}")) || json.Unmarshal([]byte(message), &document) != nil {
		return values
	}
	for _, token := range p.tokens {
		selected, ok := selector(token)
		if !ok {
			continue
		}
		if v, found := selected(document); found {
			values[token] = textOf(v)
		}
	}
	return values
}

// textOf returns a JSON value as text: a string's text, or the JSON of other values.
func textOf(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, _ := json.Marshal(v) // it was parsed from JSON
	return string(text)
}
