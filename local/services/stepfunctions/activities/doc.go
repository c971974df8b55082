// Package activities implements the operations on activities: creating, describing, deleting and listing them, polling
// for their tasks, and reporting the outcome of a task by its token.
package activities
