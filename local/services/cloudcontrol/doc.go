// Package cloudcontrol is AWS's Cloud Control API over the types of resources of CloudFormation (package resource):
// resources are created, read, changed by JSON patches, deleted and listed by their types, whatever service they are
// of.
//
// A request to change something is kept before it is answered, and carried out by a goroutine of the service; one that
// a crash has cut off is carried out again, with the same names. What a request wanted is kept as long as the resource,
// so that a patch applies to properties that cannot be read, too.
//
// It assumes no roles, and knows no types beyond those of package resource.
package cloudcontrol
