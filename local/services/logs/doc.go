// Package logs implements the operations of Amazon CloudWatch Logs that create and read log groups, over AWS JSON
// 1.1: enough for aws logs tail, for reading what executions and functions logged, and for tools that create the log
// groups of state machines. It also implements subscription filters, metric filters, query definitions, queries and
// resource policies.
//
// Subscriptions delivers events that match subscription filters to functions, and MetricFilters converts events that
// match metric filters to metric data. They depend neither on functions nor on CloudWatch: their owner passes a
// Deliverer and a receiver of the data.
package logs
