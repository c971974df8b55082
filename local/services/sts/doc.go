// Package sts is the embedded STS: it identifies callers (GetCallerIdentity) and issues session credentials
// (AssumeRole, AssumeRoleWithWebIdentity, GetSessionToken). The access keys contain the account, so requests signed
// with them belong to it. The identity of each key is stored on disk.
//
// Every caller can assume any role that exists: this package evaluates no trust policy, verifies no token and no
// signature, and does not reject expired credentials. SAML and federation are refused by name.
package sts
