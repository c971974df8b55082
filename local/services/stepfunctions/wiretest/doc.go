// Package wiretest serves the Step Functions API in tests and calls it, in bytes and through the AWS SDK. For tests
// only.
package wiretest
