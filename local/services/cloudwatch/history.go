package cloudwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
)

// The types of history items.
const (
	configurationUpdate = "ConfigurationUpdate"
	stateUpdate         = "StateUpdate"
	actionDone          = "Action"
)

// kept is a history item.
type kept struct {
	Alarm, Kind, Type, Summary string
	Data                       json.RawMessage
	At                         time.Time
}

// note adds an item to an alarm's history.
func (s *Service) note(b *documents.Batch, scope aws.Scope, a *alarm, kind, summary string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		text = []byte("{}")
	}
	of := "MetricAlarm"
	if a.Rule != "" {
		of = "CompositeAlarm"
	}
	now := s.opts.Clock.Now()
	item, err := json.Marshal(kept{a.Name, of, kind, summary, text, now})
	if err == nil { // texts and raw JSON can always be encoded
		b.Put(s.table, fmt.Sprintf("%s%s%s\x00%020d%s", historyKeys, scopeKey(scope), a.Name, now.UnixNano(), aws.NewID()[:4]), item)
	}
}

type historyRequest struct {
	Name      string   `json:"AlarmName"`
	Types     []string `json:"AlarmTypes"`
	Kind      string   `json:"HistoryItemType"`
	Start     *float64 `json:"StartDate"`
	End       *float64 `json:"EndDate"`
	Most      int      `json:"MaxRecords"`
	NextToken string
	ScanBy    string
}

type historyItem struct {
	Name    string      `json:"AlarmName"`
	Type    string      `json:"AlarmType"`
	At      server.Time `json:"Timestamp"`
	Kind    string      `json:"HistoryItemType"`
	Summary string      `json:"HistorySummary"`
	Data    string      `json:"HistoryData"`
}

type historyAnswer struct {
	Items     []historyItem `json:"AlarmHistoryItems"`
	NextToken string        `json:",omitempty"`
}

func (s *Service) describeAlarmHistory(_ context.Context, scope aws.Scope, in *historyRequest) (*historyAnswer, error) {
	const usual = 100
	prefix := historyKeys + scopeKey(scope)
	if in.Name != "" {
		prefix += in.Name + "\x00"
	}
	type placed struct {
		place string
		item  historyItem
	}
	var all []placed
	if err := s.table.Scan(prefix, func(key string, text []byte) error {
		var k kept
		if err := json.Unmarshal(text, &k); err != nil {
			return err
		}
		if in.Kind != "" && k.Type != in.Kind || len(in.Types) > 0 && !slices.Contains(in.Types, k.Kind) ||
			in.Start != nil && k.At.Before(timeOf(*in.Start)) || in.End != nil && k.At.After(timeOf(*in.End)) {
			return nil
		}
		_, at, _ := strings.Cut(key, "\x00")
		all = append(all, placed{at, historyItem{k.Alarm, k.Kind, server.Time(k.At), k.Type, k.Summary,
			string(k.Data)}})
		return nil
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b placed) int { return strings.Compare(a.place, b.place) })
	order := func(p placed) string { return p.place }
	if in.ScanBy != "TimestampAscending" {
		slices.Reverse(all)
		order = func(p placed) string { return reverseSortKey(p.place) }
	}
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "history", scopeKey(scope), in.Name, in.ScanBy), in.NextToken,
		cmp.Or(in.Most, usual), all, order)
	if !ok {
		return nil, invalidToken()
	}
	answer := &historyAnswer{[]historyItem{}, next}
	for _, p := range page {
		answer.Items = append(answer.Items, p.item)
	}
	return answer, nil
}

// reverseSortKey returns a text that sorts in the opposite order.
func reverseSortKey(text string) string {
	b := []byte(text)
	for i := range b {
		b[i] = 0x7f - b[i]&0x7f
	}
	return string(b)
}
