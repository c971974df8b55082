// Package scheduler is the API of Amazon EventBridge Scheduler: groups, and schedules at a rate, by cron or once,
// in any time zone, with flexible windows, retries and dead letters. Targets are those that the platform delivers
// to (package delivery) and universal ones, arn:aws:scheduler:::aws-sdk:SERVICE:ACTION, which call any action of
// any service by its model.
//
// The clock of the platform drives it. A time that has come is kept before anything is sent, so that the target is
// called at least once also after kill -9; the latest time that passed while nothing ran is made up for.
//
// It evaluates no roles and encrypts nothing.
package scheduler
