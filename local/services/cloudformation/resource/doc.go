// Package resource defines the resource types that CloudFormation and Cloud Control can create on this platform:
// which properties each has, which of them require a replacement, what Ref and Fn::GetAtt return, and which
// operations of which service create, read, update and delete a resource.
//
// A type calls services by the names of their operations (API), so it does not depend on any service's Go package:
// the same types work with this platform and with any other endpoint. Unknown properties are rejected by name,
// including nested ones, because documents are checked against the service's API model (Caller).
//
// The package stores nothing and starts nothing. Deploying templates is the task of package cloudformation.
package resource
