// Package resource parses and formats the ARNs of Step Functions resources, and checks the names of state machines,
// executions, activities and roles. Pure.
package resource
