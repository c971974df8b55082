// Package policy reads IAM policies and decides by them what a principal may do: actions and resources with wildcards,
// principals, conditions with policy variables, identity policies, resource policies, permissions boundaries and
// session policies. An explicit deny always wins.
//
// It is pure: it knows no service, no store and no request on the wire.
package policy
