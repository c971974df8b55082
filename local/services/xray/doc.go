// Package xray implements the API of AWS X-Ray to the extent that programs need to write and read traces: segments,
// trace summaries, whole traces, service graphs, and sampling rules.
//
// Segments are stored verbatim, for 30 days after the start of their trace. The package creates no segments itself,
// and supports no groups, insights or encryption settings.
package xray
