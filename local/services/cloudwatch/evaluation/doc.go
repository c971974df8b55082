// Package evaluation decides how CloudWatch's alarms change state: M of the last N datapoints, with the four
// treatments of missing data, and the rules of composite alarms. It is pure: the caller provides the datapoints and
// the states.
package evaluation
