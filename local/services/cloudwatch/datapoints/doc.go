// Package datapoints is what CloudWatch keeps of metrics: for each metric and period the number of its values, their
// sum, the least and the greatest, and how the values are distributed. Values are added one by one or as a summary;
// summaries of several periods are merged. It is pure: it keeps nothing and knows no time.
//
// Percentiles are exact as long as a summary has few different values. Beyond that values are kept to three digits, so
// that a percentile is off by less than half a percent; where these are spread over many powers of ten, to two.
package datapoints
