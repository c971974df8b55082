// Package cloudwatch implements an embedded CloudWatch: metric data, metric math and searches over them, dashboards,
// and alarms that fire. Everything is on disk before a request is answered: metric data, alarms with their states and
// history, and the actions of a state change until they are delivered. Alarms are evaluated by a clock.Clock, so
// virtual and scaled time drive them. Package datapoints computes statistics, math evaluates expressions, and
// evaluation holds the rules by which alarms change state.
//
// Images of widgets are not drawn. Contributor Insights rules and metric streams are stored, but count and deliver
// nothing; mute rules and alarms on PromQL are rejected by name. Package anomaly is the model behind anomaly bands.
package cloudwatch
