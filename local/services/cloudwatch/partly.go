package cloudwatch

// partly maps operations that are supported in part to what they lack.
var partly = map[string]string{
	"GetMetricData":     "Metrics Insights (`SELECT`) without tags and accounts; the model of anomaly bands is simpler than CloudWatch's",
	"PutCompositeAlarm": "no suppressors; actions are topics and functions",
	"PutMetricAlarm":    "no alarms on PromQL; actions are topics and functions; the model of anomaly bands is simpler than CloudWatch's",
	"PutInsightRule":    "stored; contributors are not counted",
	"PutMetricStream":   "stored; there is no Firehose to deliver to",
}
