// Package schedule parses the schedule expressions of Amazon EventBridge and EventBridge Scheduler, rate(5
// minutes), cron(0 8 ? * MON-FRI *) and at(2026-11-22T08:00:00), and computes the next time after a given time.
//
// The six fields of cron are minutes, hours, day of the month, month, day of the week (SUN is 1) and year. They may
// contain * , - / and, for days, also ?, L, W and #. One of the two day fields must be ?. Times are in a time zone.
// As in Scheduler's documentation, a time that the clock skips in spring does not occur that year, and a time that
// the clock repeats in autumn occurs once, the first time. A day in rate is 24 hours.
//
// The package is pure: it reads no clock, does not wait and does not spread starts over flexible windows.
package schedule
