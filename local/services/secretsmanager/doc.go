// Package secretsmanager is the embedded Secrets Manager of the laptop: secrets with versions and staging labels, tags,
// resource policies, a recovery window, random passwords, and rotation by functions. Values are encrypted by
// Options.Secrets, under KMS's keys.
//
// A rotation is carried out when it is asked for; its schedule is kept and told, and starts none by itself. Policies
// are kept and evaluated for nobody. Replicas in other regions and secrets that others manage are refused by name.
package secretsmanager
