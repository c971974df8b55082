// Package jobs carries out the optimized integrations that start a job elsewhere, such as ecs:runTask.sync: the job is
// submitted, looked at time and again until it is over, and stopped when nobody waits for the task any more. Each kind
// of job is a row of a table. It runs no job itself and calls no service but through the integration that submits the
// job.
package jobs
