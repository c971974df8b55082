// Package resource knows the types of resources that CloudFormation and Cloud Control make on this platform: which
// properties each has, which of them need a replacement, what Ref and Fn::GetAtt give, and which operations of which
// service create, read, update and delete it.
//
// A type calls services by the names of their operations (API), so that it depends on no service's Go package: the same
// types work against this platform and against any other endpoint. Properties that a type does not know are refused by
// name, also the nested ones, since documents are held against the service's API model (Caller).
//
// The package keeps nothing and starts nothing. What is made of a template is package cloudformation's.
package resource
