// Package cloudformation implements AWS CloudFormation on this platform: stacks, change sets, events, exports, drift,
// custom resources and nested stacks, with the API of AWS's model.
//
// A deployment walks the graph of a template (package template), creates, changes, replaces and deletes resources by
// their types (package resource), and rolls back after a failure. Every step is on disk before the next one starts,
// so an interrupted deployment, even one ended by kill -9, continues when the store is opened again.
//
// Unknown types and properties are rejected by name before anything is created. The package calls services only
// through their APIs, with the role RoleARN if roles are enforced.
package cloudformation
