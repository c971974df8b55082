// Package metricmath evaluates CloudWatch's metric math: numbers, the ids of metrics and expressions, arithmetic,
// comparisons, AND and OR, and the functions of its reference but those that need a model or other services
// (ANOMALY_DETECTION_BAND, SERVICE_QUOTA, INSIGHT_RULE_METRIC, DB_PERF_INSIGHTS, LAMBDA), which are refused by name. It
// fetches nothing: the caller brings the series.
package metricmath
