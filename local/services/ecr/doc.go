// Package ecr implements the part of ECR that deployments need locally: repositories with their policies, lifecycle
// policies, settings and tags, stored on disk. cdk bootstrap creates one.
//
// Repositories are empty: there is no registry behind them. Logging in, pushing and pulling are rejected by name.
package ecr
