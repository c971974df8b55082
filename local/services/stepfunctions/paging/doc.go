// Package paging cuts lists of the Step Functions API into pages, and orders them by creation time. It reads no clock.
package paging
