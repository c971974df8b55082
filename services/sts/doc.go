// Package sts answers the one question to AWS STS with which tools begin: who is asking (GetCallerIdentity). Terraform,
// the AWS CLI and deployment scripts take the account from it. It gives no credentials and checks none.
package sts
