// Package secretsmanager is the embedded Secrets Manager: secrets with versions and staging labels, tags, resource
// policies, a recovery window, random passwords, and rotation by functions. Values are encrypted by Options.Secrets,
// with KMS keys.
//
// A rotation runs when it is requested; its schedule is stored and returned, but starts no rotations. Policies are
// stored and not evaluated here. Replicas in other regions and secrets managed by other services are refused by name.
package secretsmanager
