// Package xray is the API of AWS X-Ray, as far as programs that trace themselves and those that read their traces need
// it: segments, summaries, whole traces, graphs of services, and sampling rules.
//
// Segments are kept as they came, for 30 days after their trace began. It makes no segments itself, and knows no
// groups, insights or encryption settings.
package xray
