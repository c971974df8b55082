// Package policy parses and evaluates IAM policies: actions and resources with wildcards, principals, conditions with
// policy variables, identity policies, resource policies, permissions boundaries and session policies. An explicit
// deny always wins.
//
// It is pure: it depends on no service, no store and no wire format.
package policy
