// Package scheduler implements the API of Amazon EventBridge Scheduler: groups, and schedules with a rate, with cron
// or for a single time, in any time zone, with flexible windows, retries and dead-letter queues. It supports all
// targets of the platform (package delivery) and universal targets, arn:aws:scheduler:::aws-sdk:SERVICE:ACTION, which
// call any action of any service through its API model.
//
// It runs on the platform's clock. A due time is stored before anything is sent, so the target is called at least
// once even after kill -9. Of the times that passed while no process was running, the latest is made up for.
//
// It evaluates no roles and encrypts nothing.
package scheduler
