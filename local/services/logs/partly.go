package logs

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AssociateKmsKey": "kept: events are not encrypted",
	"ListLogGroups":   "no `dataSources`, `fieldIndexNames` and `logGroupTags`",
	"PutMetricFilter": "values are `$.field` or a number, not `$field` of space-delimited patterns; no `applyOnTransformedLogs`, `fieldSelectionCriteria`, " +
		"`emitSystemFieldDimensions`",
	"PutSubscriptionFilter": "delivers to functions only; no `applyOnTransformedLogs`, `fieldSelectionCriteria`, " +
		"`emitSystemFields`",
	"PutResourcePolicy": "policies of the account only; kept, and evaluated for nobody",
	"StartQuery":        "`CWLI` only: fields, display, filter, stats, sort, limit, parse, dedup; it has ended when it answers",
	"TestMetricFilter":  "no extracted values of space-delimited patterns",
}
