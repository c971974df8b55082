package retrymetrics

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// AddEmbedded counts the values of the given catalogue metrics in a line of CloudWatch's embedded metric format, and
// reports whether there were any. Any other line is ignored.
func (c *Collector) AddEmbedded(line []byte, of ...*Metric) bool {
	if !bytes.HasPrefix(line, []byte("{")) || !bytes.Contains(line, []byte(`"_aws"`)) {
		return false
	}
	var head struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace string
				Metrics   []struct{ Name string }
			}
		} `json:"_aws"`
		StateMachine, State, ErrorType string
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(line, &head) != nil || json.Unmarshal(line, &values) != nil || head.StateMachine == "" {
		return false
	}
	t := c.teller(head.StateMachine)
	l := Labels{StateMachine: head.StateMachine, State: head.State, ErrorType: head.ErrorType}
	found := false
	for _, d := range head.AWS.CloudWatchMetrics {
		for _, m := range d.Metrics {
			i := slices.IndexFunc(of, func(known *Metric) bool {
				return known.name == m.Name && known.namespace == d.Namespace
			})
			if i < 0 {
				continue
			}
			for _, v := range embeddedValues(values[m.Name]) {
				t.add(of[i], l, head.AWS.Timestamp*int64(time.Millisecond), v)
				found = true
			}
		}
	}
	t.flush()
	return found
}

// embeddedValues parses a number or an array of numbers.
func embeddedValues(text json.RawMessage) []float64 {
	var one float64
	if json.Unmarshal(text, &one) == nil {
		return []float64{one}
	}
	var all []float64
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}
