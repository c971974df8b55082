package eventsource

import (
	"encoding/json"
	"strings"
)

// failures reads which items of a batch have failed by what a function reported (ReportBatchItemFailures). It reports
// false when all have: because the report names none of them rightly, or is none. An empty report says that none has.
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
