// Package sdk2025 compares the laboratory's policy sdk-2025 with the retryer of aws-sdk-go-v2 v1.47.6. That version has
// the new retries behind AWS_NEW_RETRIES_2026, which must not be set. It is a module of its own, because a module has one
// version of the SDK.
package sdk2025
