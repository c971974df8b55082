// Package schedule reads the schedule expressions of Amazon EventBridge and EventBridge Scheduler, rate(5 minutes),
// cron(0 8 ? * MON-FRI *) and at(2026-11-22T08:00:00), and tells the next time after a time.
//
// The six fields of cron are minutes, hours, day of the month, month, day of the week (SUN is 1) and year, with * , - /
// and for days also ?, L, W and #. One of the two days is ?. Times are those of a time zone; as Scheduler documents it,
// a time that a clock skips in spring does not come that year, and one that it repeats in autumn comes once, the first
// time. A day of rate is 24 hours.
//
// The package is pure: it reads no clock, waits for nothing and does not spread starts over flexible windows.
package schedule
