// Package kms is the embedded KMS of the laptop: keys of its own that really encrypt, sign and authenticate, with
// aliases, states, policies, grants, tags and rotation. Package material has the cryptography; this package names keys,
// keeps them, and speaks AWS's words. What is told of keys is among the documents; their material is in files of its
// own that only the user of the process may read (mode 0600).
//
// Services use it by Secrets. Keys of AWS (alias/aws/NAME) are made when they are first asked for.
//
// It evaluates no policies and asks for no grants: both are kept. Keys that are imported, in custom stores or outside,
// and answers for Nitro enclaves, are refused by name.
package kms
