// Package sts is the embedded STS of the laptop: it says who is asking (GetCallerIdentity), and gives credentials of
// sessions (AssumeRole, AssumeRoleWithWebIdentity, GetSessionToken). Their access keys tell the account, so that
// what is signed with them belongs there; who a key stands for is on the disk.
//
// A role can be assumed when it is there, by everybody: its trust policy is not evaluated, no token is verified, no
// signature is checked, and credentials do not stop working when they expire. SAML and federation are refused by name.
package sts
