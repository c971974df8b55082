// Package jobs performs the optimized integrations that start a job elsewhere, such as ecs:runTask.sync: the job is
// submitted, polled until it has ended, and stopped if the task is given up. Each kind of job is a row of a table.
// The package runs no jobs itself, and calls services only through the integration that submits the job.
package jobs
