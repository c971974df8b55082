// Package xray has AWS X-Ray show what a function asks its PostgreSQL database: a subsegment for each connection that
// is opened and each statement, in the trace of the invocation that AWS Lambda has chosen to record.
//
// It sends datagrams to the daemon that runs beside a function (AWS_XRAY_DAEMON_ADDRESS) and never waits for it. Texts
// of statements are sent, their arguments never.
package xray
