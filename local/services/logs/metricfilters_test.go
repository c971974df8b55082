package logs_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"stepback/aws"
	api "stepback/local/services/logs"
	"stepback/local/services/logs/logstore"
)

func TestMetricFilters(t *testing.T) {
	t.Parallel()
	s := serve(t)
	put := func(name, pattern, transformation string) string {
		return named + fmt.Sprintf(`,"filterName":%q,"filterPattern":%q,"metricTransformations":[{"metricName":"Latency",`+
			`"metricNamespace":"Orders",%s}]}`, name, pattern, transformation)
	}
	const wrong = "InvalidParameterException: Invalid metric transformation: "
	s.ends("PutMetricFilter", put("f", "x", `"metricValue":"1"`),
		"ResourceNotFoundException: The specified log group does not exist.")
	s.ends("CreateLogGroup", named+`}`, "")
	for _, c := range []struct{ parameters, want string }{
		{put("f", "{", `"metricValue":"1"`), "InvalidParameterException: Invalid filter pattern"},
		{put("f", "{$.a=1}", `"metricValue":"1","defaultValue":0,"dimensions":{"d":"$.d"}`),
			wrong + "dimensions and default value are mutually exclusive properties."},
		{put("f", "x", `"metricValue":"$.a"`),
			wrong + "metricValue must be a number or, with a JSON filter pattern, a field such as $.latency."},
		{put("f", "x", `"metricValue":"1","dimensions":{"d":"$.d"}`),
			wrong + "the dimension d must be a field such as $.client of a JSON filter pattern."},
		{put("f", "{$.a=1}", `"metricValue":"1","dimensions":{"a":"$.a","b":"$.b","c":"$.c","d":"$.d"}`),
			wrong + "a metric filter has at most 3 dimensions."},
		{put("f", "{$.a=1}", `"metricValue":"$.n","dimensions":{"d":"$.d"},"unit":"Milliseconds"`), ""},
		{put("e", "ERROR", `"metricValue":"1","defaultValue":0`), ""},
	} {
		s.ends("PutMetricFilter", c.parameters, c.want)
	}
	want := []any{
		map[string]any{"filterName": "e", "filterPattern": "ERROR", "logGroupName": group,
			"creationTime": 1_700_000_000_000.0, "applyOnTransformedLogs": false, "metricTransformations": []any{
				map[string]any{"metricName": "Latency", "metricNamespace": "Orders", "metricValue": "1", "defaultValue": 0.0}}},
		map[string]any{"filterName": "f", "filterPattern": "{$.a=1}", "logGroupName": group,
			"creationTime": 1_700_000_000_000.0, "applyOnTransformedLogs": false, "metricTransformations": []any{
				map[string]any{"metricName": "Latency", "metricNamespace": "Orders", "metricValue": "$.n",
					"dimensions": map[string]any{"d": "$.d"}, "unit": "Milliseconds"}}},
	}
	for _, of := range []string{named + `}`, `{"metricName":"Latency","metricNamespace":"Orders"}`} {
		if a := s.call("DescribeMetricFilters", of); !reflect.DeepEqual(a["metricFilters"], want) {
			t.Errorf("%s: %v", of, a)
		}
	}
	if a := s.call("DescribeMetricFilters", `{"metricName":"Other","metricNamespace":"Orders"}`); len(
		a["metricFilters"].([]any)) > 0 {
		t.Error(a)
	}
	if a := s.call("DescribeLogGroups", `{}`); a["logGroups"].([]any)[0].(map[string]any)["metricFilterCount"] != 2.0 {
		t.Error(a)
	}
	s.ends("DeleteMetricFilter", named+`,"filterName":"e"}`, "")
	s.ends("DeleteMetricFilter", named+`,"filterName":"e"}`,
		"ResourceNotFoundException: The specified metric filter does not exist.")
}

func TestTestMetricFilter(t *testing.T) {
	t.Parallel()
	a := serve(t).call("TestMetricFilter", `{"filterPattern":"{$.n > 1 && $.s = *}","logEventMessages":`+
		`["{\"n\":1,\"s\":\"a\"}","{\"n\":2.5,\"s\":\"b\"}","no"]}`)
	if want := map[string]any{"matches": []any{map[string]any{"eventNumber": 2.0, "eventMessage": `{"n":2.5,"s":"b"}`,
		"extractedValues": map[string]any{"$.n": "2.5", "$.s": "b"}}}}; !reflect.DeepEqual(a, want) {
		t.Error(a)
	}
}

func TestMetricData(t *testing.T) {
	t.Parallel()
	missing := 0.0
	g := logstore.Group{Name: "g", MetricFilters: []logstore.MetricFilter{
		{Name: "latency", Pattern: "{$.ok IS TRUE}", Namespace: "N", Metric: "Latency", Value: "$.ms", Unit: "Milliseconds",
			Dimensions: map[string]string{"Client": "$.client"}},
		{Name: "errors", Pattern: "ERROR", Namespace: "N", Metric: "Errors", Value: "1", Default: &missing},
	}}
	minute := now.UTC().Truncate(time.Minute)
	at := func(minutes int, message string) logstore.Event {
		return logstore.Event{Time: minute.Add(time.Duration(minutes) * time.Minute).UnixMilli(), Message: message}
	}
	var m api.MetricFilters
	errors := func(minutes int, value float64) api.MetricDatum {
		return api.MetricDatum{Namespace: "N", Metric: "Errors", At: minute.Add(time.Duration(minutes) * time.Minute),
			Value: value}
	}
	for _, c := range []struct {
		events []logstore.Event
		want   []api.MetricDatum
	}{
		{[]logstore.Event{at(0, `{"ok":true,"ms":"12.5","client":7}`), at(0, `{"ok":true,"ms":1}`),
			at(0, `{"ok":true,"ms":"slow","client":"c"}`), at(0, `{"ok":false,"ms":3,"client":"c"}`)},
			[]api.MetricDatum{{Namespace: "N", Metric: "Latency", Unit: "Milliseconds", At: minute, Value: 12.5,
				Dimensions: map[string]string{"Client": "7"}}}},
		{[]logstore.Event{at(1, "quiet"), at(1, "ERROR"), at(1, "ERROR")},
			[]api.MetricDatum{errors(0, 0), errors(1, 1), errors(1, 1)}},
		{[]logstore.Event{at(2, "quiet"), at(1, "late")}, nil},
	} {
		if got := m.Appended(home, g, c.events); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.events, got, c.want)
		}
	}
	if got := m.Due(minute.Add(2*time.Minute + 59*time.Second)); len(got) > 0 {
		t.Errorf("before the end of the minute: %v", got)
	}
	for _, want := range []map[aws.Scope][]api.MetricDatum{{home: {errors(2, 0)}}, nil} {
		if got := m.Due(minute.Add(3 * time.Minute)); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
