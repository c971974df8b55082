// Package ssm is the embedded Parameter Store of the laptop: parameters with versions, labels, tags, paths and history,
// kept on the disk. SecureString values are encrypted by Options.Secrets, under KMS's keys.
//
// It serves parameters only: documents, runs of commands, patches, inventories, sessions and maintenance windows are
// refused by name. Policies of parameters (expiration, notification) are refused, too.
package ssm
