package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// peek defines how a page inspects a service: an operation that lists its resources, and one that describes a
// resource.
type peek struct {
	operation string
	in        map[string]any
	list      string // the response member that holds the elements
	name      string // the member that holds an element's name; empty if the elements are names
	columns   []peekColumn
	detail    *peekDetail
}

// peekColumn is a member to show, given by its path.
type peekColumn struct{ Title, member string }

// peekDetail is the operation that describes an element by its name.
type peekDetail struct {
	operation, param string // param is the input member for the name
	in               map[string]any
	columns          []peekColumn
}

// peeks are the services that pages can inspect, by the names of their API models. Services without an entry are
// listed without a link.
var peeks = map[string]peek{
	"sqs": {operation: "ListQueues", list: "QueueUrls", detail: &peekDetail{operation: "GetQueueAttributes", param: "QueueUrl",
		in: map[string]any{"AttributeNames": []string{"All"}}, columns: []peekColumn{
			{"messages", "Attributes.ApproximateNumberOfMessages"}, {"in flight", "Attributes.ApproximateNumberOfMessagesNotVisible"},
			{"delayed", "Attributes.ApproximateNumberOfMessagesDelayed"}, {"redrive policy", "Attributes.RedrivePolicy"}}}},
	"sns": {operation: "ListTopics", list: "Topics", name: "TopicArn", detail: &peekDetail{operation: "GetTopicAttributes",
		param: "TopicArn", columns: []peekColumn{{"subscriptions", "Attributes.SubscriptionsConfirmed"},
			{"not confirmed", "Attributes.SubscriptionsPending"}}}},
	"lambda": {operation: "ListFunctions", list: "Functions", name: "FunctionName", columns: []peekColumn{{"runtime", "Runtime"},
		{"memory, MB", "MemorySize"}, {"timeout, s", "Timeout"}, {"modified", "LastModified"}}},
	"s3": {operation: "ListBuckets", list: "Buckets", name: "Name", columns: []peekColumn{{"made", "CreationDate"}},
		detail: &peekDetail{operation: "ListObjectsV2", param: "Bucket", in: map[string]any{"MaxKeys": 1000},
			columns: []peekColumn{{"objects, up to 1,000", "KeyCount"}}}},
	"dynamodb": {operation: "ListTables", list: "TableNames", detail: &peekDetail{operation: "DescribeTable", param: "TableName",
		columns: []peekColumn{{"items", "Table.ItemCount"}, {"bytes", "Table.TableSizeBytes"}, {"status", "Table.TableStatus"}}}},
	"dynamodbstreams": {operation: "ListStreams", list: "Streams", name: "StreamArn", columns: []peekColumn{{"table", "TableName"}}},
	"eventbridge": {operation: "ListRules", list: "Rules", name: "Name", columns: []peekColumn{{"state", "State"},
		{"schedule", "ScheduleExpression"}, {"pattern", "EventPattern"}}},
	"scheduler": {operation: "ListSchedules", list: "Schedules", name: "Name", columns: []peekColumn{{"group", "GroupName"},
		{"state", "State"}, {"target", "Target.Arn"}}},
	"ssm": {operation: "DescribeParameters", list: "Parameters", name: "Name", columns: []peekColumn{{"type", "Type"},
		{"version", "Version"}, {"modified", "LastModifiedDate"}}},
	"secretsmanager": {operation: "ListSecrets", list: "SecretList", name: "Name", columns: []peekColumn{
		{"description", "Description"}, {"changed", "LastChangedDate"}}},
	"kms":            {operation: "ListKeys", list: "Keys", name: "KeyId"},
	"iam":            {operation: "ListRoles", list: "Roles", name: "RoleName", columns: []peekColumn{{"made", "CreateDate"}}},
	"ecr":            {operation: "DescribeRepositories", list: "repositories", name: "repositoryName", columns: []peekColumn{{"made", "createdAt"}}},
	"cloudformation": {operation: "DescribeStacks", list: "Stacks", name: "StackName", columns: []peekColumn{{"status", "StackStatus"}, {"why", "StackStatusReason"}, {"made", "CreationTime"}}},
	"cloudwatch":     {operation: "DescribeAlarms", list: "MetricAlarms", name: "AlarmName", columns: []peekColumn{{"state", "StateValue"}, {"why", "StateReason"}}},
	"sfn":            {operation: "ListActivities", list: "activities", name: "name", columns: []peekColumn{{"made", "creationDate"}}},
}

// peekWords name what a page lists, for services whose operation name does not say it.
var peekWords = map[string]string{"sfn": "Activities", "iam": "Roles", "kms": "Keys", "ecr": "Repositories",
	"cloudwatch": "Alarms", "eventbridge": "Rules of the default bus", "lambda": "Functions", "s3": "Buckets", "sqs": "Queues",
	"sns": "Topics", "dynamodb": "Tables", "dynamodbstreams": "Streams", "scheduler": "Schedules", "ssm": "Parameters",
	"secretsmanager": "Secrets", "cloudformation": "Stacks"}

// peekPages return the page of an element by its name, for services whose elements have pages.
var peekPages = map[string]func(name string) string{"cloudformation": stackURL, "cloudwatch": alarmURL}

// PeekView shows the resources of a service.
type PeekView struct {
	Service Service   `json:"service"`
	What    string    `json:"what"`
	Columns []string  `json:"columns"`
	Rows    []PeekRow `json:"rows"`
	More    bool      `json:"more,omitempty"`
}

// PeekRow is one resource of a service.
type PeekRow struct {
	Name  string   `json:"name"`
	Cells []string `json:"cells"`
	Link  string   `json:"page,omitempty"`
	Error string   `json:"error,omitempty"` // why it cannot be described
}

// shownElements is the most resources of a service that a page shows.
const shownElements = 100

func (c *Console) peek(r *request) (*answer, error) {
	model := r.PathValue("model")
	of, ok := peeks[model]
	v := &PeekView{What: peekWords[model], Rows: []PeekRow{}, Columns: []string{}}
	for _, s := range c.services() {
		if s.Model == model {
			v.Service = s
		}
	}
	if !ok || v.Service.Model == "" {
		return nil, &notFound{"There is no page about a service " + model + "."}
	}
	for _, column := range of.columns {
		v.Columns = append(v.Columns, column.Title)
	}
	if of.detail != nil {
		for _, column := range of.detail.columns {
			v.Columns = append(v.Columns, column.Title)
		}
	}
	var out map[string]json.RawMessage
	if err := c.cfg.Call(r.Context(), model, of.operation, of.in, &out); err != nil {
		return nil, err
	}
	var elements []json.RawMessage
	if raw := out[of.list]; raw != nil {
		if err := json.Unmarshal(raw, &elements); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", of.list, of.operation, err)
		}
	}
	if len(elements) > shownElements {
		elements, v.More = elements[:shownElements], true
	}
	for _, e := range elements {
		v.Rows = append(v.Rows, c.element(r, model, &of, e))
	}
	return &answer{Title: v.Service.Name, Template: "peek", View: v}, nil
}

// element describes a resource of a service.
func (c *Console) element(r *request, model string, of *peek, raw json.RawMessage) PeekRow {
	var e any
	_ = json.Unmarshal(raw, &e) // raw is part of a valid document
	row := PeekRow{Name: cell(member(e, of.name)), Cells: []string{}}
	if page := peekPages[model]; page != nil {
		row.Link = page(row.Name)
	}
	for _, column := range of.columns {
		row.Cells = append(row.Cells, cell(member(e, column.member)))
	}
	if of.detail == nil {
		return row
	}
	in := map[string]any{of.detail.param: row.Name}
	for k, v := range of.detail.in {
		in[k] = v
	}
	var d any
	if err := c.cfg.Call(r.Context(), model, of.detail.operation, in, &d); err != nil {
		row.Error = err.Error()
	}
	for _, column := range of.detail.columns {
		row.Cells = append(row.Cells, cell(member(d, column.member)))
	}
	return row
}

// member returns the value at a path of members; v itself if the path is empty.
func member(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		if name == "" {
			return v
		}
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// firstTime is the smallest number that a table shows as a time, in seconds since 1970. It is in September 2001.
const firstTime = 1e9

// cell formats a value for a table cell.
func cell(v any) string {
	const longest = 200
	switch v := v.(type) {
	case nil:
		return "–"
	case string:
		return clip(longest, v)
	case float64:
		if v >= firstTime && v < 4*firstTime {
			return time.UnixMilli(int64(v * 1000)).UTC().Format(time.DateTime)
		}
		return fmt.Sprint(v)
	}
	text, _ := json.Marshal(v) // v was decoded from JSON
	return clip(longest, string(text))
}
