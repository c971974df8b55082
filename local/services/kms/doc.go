// Package kms is the embedded KMS: its keys really encrypt, sign and authenticate, and have aliases, states,
// policies, grants, tags and rotation. Package material implements the cryptography; this package names keys, stores
// them and implements AWS's API. The descriptions of keys are stored as documents; their material is in separate
// files that only the user of the process may read (mode 0600).
//
// Services use it through Secrets. AWS managed keys (alias/aws/NAME) are created on first use.
//
// It stores policies and grants but evaluates neither. Imported keys, keys in custom or external key stores, and
// responses for Nitro enclaves are refused by name.
package kms
