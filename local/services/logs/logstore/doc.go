// Package logstore stores the log groups, streams and events of an embedded CloudWatch Logs in a directory. Events
// are written asynchronously in the order in which they were appended; reading returns everything that was appended
// before. The store is bounded: the oldest events of a stream and the oldest streams of a group are dropped to make
// space for new ones.
//
// It is not a journal: events appended in the last moments before a crash may be lost. It interprets no events and
// knows no API.
package logstore
