// Package cloudcontrol implements AWS's Cloud Control API over CloudFormation's resource types (package resource):
// resources of any service are created, read, changed by JSON patches, deleted and listed by their types.
//
// A request to change something is stored before it is answered, and executed by a goroutine of the service. A
// request that was interrupted by a crash is executed again, with the same names. The requested properties are kept
// as long as the resource exists, so that a patch can also apply to properties that cannot be read.
//
// Roles are not assumed, and types other than those of package resource are unknown.
package cloudcontrol
