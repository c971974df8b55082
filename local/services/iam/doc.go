// Package iam is the embedded IAM: roles, users, groups, instance profiles, managed and inline policies, access keys,
// identity providers and tags, to the extent that deployments create them. Every change is on disk before it is
// acknowledged.
//
// AWS managed policies (arn:aws:iam::aws:policy/…) can be attached by any name; only some of their documents are
// known here. Policy documents are validated; this package does not authorize requests by them. Sign-in, passwords,
// MFA devices, certificates, reports and organizations are refused by name.
package iam
