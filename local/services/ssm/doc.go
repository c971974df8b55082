// Package ssm is the embedded Parameter Store: parameters with versions, labels, tags, paths and history, stored on
// disk. SecureString values are encrypted by Options.Secrets, with KMS keys.
//
// It implements parameters only: documents, Run Command, patches, inventories, sessions and maintenance windows are
// refused by name. Parameter policies (expiration, notification) are refused, too.
package ssm
