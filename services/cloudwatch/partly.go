package cloudwatch

// partly says what operations that are served do not do.
var partly = map[string]string{
	"GetMetricData":     "no Metrics Insights (`SELECT`), no anomaly bands",
	"PutCompositeAlarm": "no suppressors; actions are topics and functions",
	"PutMetricAlarm":    "no alarms on anomaly detection and PromQL; actions are topics and functions",
}
