// Package logs serves the operations of Amazon CloudWatch Logs that create and read log groups, over AWS JSON 1.1:
// enough for aws logs tail, for reading what executions and functions logged, and for tools that create the log groups
// of state machines. Metric filters, subscriptions, queries and resource policies are not among them.
package logs
