// Package iam is the embedded IAM of the laptop: roles, users, groups, instance profiles, managed and inline policies,
// access keys, identity providers and tags, as far as deployments make them. What has been answered is on the disk.
//
// Policies of AWS itself (arn:aws:iam::aws:policy/…) can be attached by any name; their documents are not here.
// Policies are checked to be documents of policies, and evaluated for nobody. Sign-in, passwords, MFA devices,
// certificates, reports and organizations are refused by name.
package iam
