// Package evaluation is how CloudWatch's alarms change their states: M of the last N datapoints, with the four ways to
// treat missing data, and the rules of composite alarms. It is pure: the caller brings the datapoints and the states.
package evaluation
