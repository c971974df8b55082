// Package datapoints holds the data that CloudWatch keeps of metrics: for each metric and period the number of its
// values, their sum, minimum and maximum, and their distribution. Values are added individually or as a summary;
// summaries of several periods can be merged. The package is pure: it stores nothing and reads no clock.
//
// Percentiles are exact as long as a summary has few different values. With more, values are kept to three digits, so
// a percentile is off by less than half a percent; if these are spread over many powers of ten, to two.
package datapoints
