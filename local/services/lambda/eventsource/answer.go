package eventsource

import (
	"encoding/json"
	"strings"
)

// failures returns the items of a batch that a function reported as failed (ReportBatchItemFailures). An empty
// report means that no item has failed. ok is false if the whole batch counts as failed, because the response is
// not a report or names an unknown item.
func failures(answer []byte, items map[string]bool) (failed map[string]bool, ok bool) {
	text := strings.TrimSpace(string(answer))
	if text == "" || text == "null" || text == `""` {
		return nil, true
	}
	var report struct {
		Failures []struct {
			Item *string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if json.Unmarshal(answer, &report) != nil {
		return nil, false
	}
	failed = make(map[string]bool, len(report.Failures))
	for _, f := range report.Failures {
		if f.Item == nil || !items[*f.Item] {
			return nil, false
		}
		failed[*f.Item] = true
	}
	return failed, true
}
