package cloudwatch

import (
	"encoding/json"
	"strings"
	"time"
)

// embedded is a log line in the embedded metric format.
type embedded struct {
	AWS struct {
		Timestamp int64
		Metrics   []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct {
				Name, Unit        string
				StorageResolution int
			}
		} `json:"CloudWatchMetrics"`
	} `json:"_aws"`
}

// Embedded returns the metrics in a log line in CloudWatch's embedded metric format; other lines have none. A metric
// counts once for each dimension set. A metric without a value and a dimension set with a missing dimension are left
// out.
func Embedded(line string) []Datum {
	if !strings.HasPrefix(strings.TrimSpace(line), "{") || !strings.Contains(line, `"_aws"`) {
		return nil
	}
	var e embedded
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &e) != nil || json.Unmarshal([]byte(line), &members) != nil {
		return nil
	}
	var all []Datum
	at := time.UnixMilli(e.AWS.Timestamp).UTC()
	for _, directive := range e.AWS.Metrics {
		sets := directive.Dimensions
		if len(sets) == 0 {
			sets = [][]string{{}}
		}
		for _, m := range directive.Metrics {
			values := numbers(members[m.Name])
			if len(values) == 0 {
				continue
			}
			for _, set := range sets {
				dimensions, ok := dimensionsOf(set, members)
				if !ok {
					continue
				}
				d := Datum{Metric: Metric{directive.Namespace, m.Name, dimensions}, At: at,
					Fine: m.StorageResolution == 1}
				d.Data.Unit = "None"
				if m.Unit != "" {
					d.Data.Unit = m.Unit
				}
				for _, v := range values {
					d.Data.Add(v, 1)
				}
				all = append(all, d)
			}
		}
	}
	return all
}

// numbers returns the values of a metric, which is a number or a list of numbers.
func numbers(text json.RawMessage) []float64 {
	var one float64
	if json.Unmarshal(text, &one) == nil {
		return []float64{one}
	}
	var many []float64
	if json.Unmarshal(text, &many) != nil {
		return nil
	}
	return many
}

func dimensionsOf(names []string, members map[string]json.RawMessage) (all []Dimension, ok bool) {
	for _, name := range names {
		text, ok := members[name]
		if !ok {
			return nil, false
		}
		var value string
		if json.Unmarshal(text, &value) != nil {
			value = string(text)
		}
		all = append(all, Dimension{Name: name, Value: value})
	}
	return all, true
}
