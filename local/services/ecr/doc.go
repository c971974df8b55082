// Package ecr is as much of ECR as deployments ask for on the laptop: repositories with their policies, lifecycle
// policies, settings and tags, kept on the disk. cdk bootstrap makes one.
//
// Repositories are empty: there is no registry behind them. Logging in to one, pushing and pulling are refused by name.
package ecr
