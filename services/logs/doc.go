// Package logs serves the operations of Amazon CloudWatch Logs that create and read log groups, over AWS JSON 1.1:
// enough for aws logs tail, for reading what executions and functions logged, and for tools that create the log groups
// of state machines; and subscription filters and query definitions. Metric filters, queries and resource policies are
// not among them.
//
// Subscriptions delivers what the filters match, to functions. It knows no functions: a Deliverer does.
package logs
