// Package logs serves the operations of Amazon CloudWatch Logs that create and read log groups, over AWS JSON 1.1:
// enough for aws logs tail, for reading what executions and functions logged, and for tools that create the log groups
// of state machines; and subscription filters, metric filters and query definitions. Queries and resource policies are
// not among them.
//
// Subscriptions delivers what subscription filters match, to functions, and MetricFilters makes metric data of what
// metric filters match. They know neither functions nor CloudWatch: a Deliverer does, and whoever takes the data.
package logs
