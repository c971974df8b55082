package logs

// partly says what operations that are served do not do.
var partly = map[string]string{
	"FilterLogEvents": "no space-delimited patterns",
	"PutMetricFilter": "no space-delimited patterns; no `applyOnTransformedLogs`, `fieldSelectionCriteria`, " +
		"`emitSystemFieldDimensions`",
	"PutSubscriptionFilter": "delivers to functions only; no `applyOnTransformedLogs`, `fieldSelectionCriteria`, " +
		"`emitSystemFields`",
	"TestMetricFilter": "no space-delimited patterns",
}
