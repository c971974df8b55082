// Package cloudwatch is the embedded CloudWatch of the laptop: metric data, metric math and searches over them,
// dashboards, and alarms that fire. What has been answered is on the disk: metric data, alarms with their states and
// history, and the actions of a change of state until they are delivered. Alarms are evaluated by a clock.Clock, so
// that virtual and scaled time drive them. Package datapoints is the arithmetic of statistics, math that of
// expressions, evaluation the rules by which alarms change.
//
// It draws no images of widgets. Rules of Contributor Insights and metric streams are kept, and count and
// deliver nothing; mute rules and alarms on PromQL are refused by name. Package anomaly is the model behind anomaly
// bands.
package cloudwatch
