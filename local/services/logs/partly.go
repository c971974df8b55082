package logs

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AssociateKmsKey": "stored; events are not encrypted",
	"ListLogGroups":   "no `dataSources`, `fieldIndexNames` or `logGroupTags`",
	"PutMetricFilter": "a value is `$.field` or a number, not `$field` of a space-delimited pattern; no `applyOnTransformedLogs`, `fieldSelectionCriteria`, " +
		"`emitSystemFieldDimensions`",
	"PutSubscriptionFilter": "delivers to functions only; no `applyOnTransformedLogs`, `fieldSelectionCriteria`, " +
		"`emitSystemFields`",
	"PutResourcePolicy": "only policies of the account; evaluated only with `serve --enforce-iam`",
	"StartQuery":        "only `CWLI`: fields, display, filter, stats, sort, limit, parse, dedup; the query is complete when it answers",
	"TestMetricFilter":  "no extracted values of space-delimited patterns",
}
