// Package logstore keeps the log groups, streams and events of an embedded CloudWatch Logs in a directory. What is
// appended is written behind the caller's back, in the order of its coming; reading sees everything that was appended
// before. It is bounded: the oldest events of a stream and the oldest streams of a group make room for new ones.
//
// It is no journal: events that were appended within the last moments before a crash may be lost. It interprets no
// event, and it knows no API.
package logstore
