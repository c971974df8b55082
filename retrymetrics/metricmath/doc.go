// Package metricmath evaluates CloudWatch's metric math: numbers, ids of metrics and expressions, arithmetic,
// comparisons, AND and OR, and the functions of its reference, except those that need a model or other services
// (ANOMALY_DETECTION_BAND, SERVICE_QUOTA, INSIGHT_RULE_METRIC, DB_PERF_INSIGHTS, LAMBDA), which it rejects by name.
// It fetches nothing: the caller provides the series.
package metricmath
