// Package cloudformation is AWS CloudFormation on this platform: stacks, change sets, events, exports, drift, custom
// resources, nested stacks, by the API that AWS's model describes.
//
// A deployment walks the graph of a template (package template), makes, changes, replaces and deletes resources by
// their types (package resource), and rolls back what failed. Every step is on the disk before the next begins, so
// that a deployment that is cut off, also by kill -9, goes on when the store is opened again.
//
// Types and properties that are not known fail by their names before anything is made. The package asks services only
// through their APIs, in the role of RoleARN where roles are judged.
package cloudformation
