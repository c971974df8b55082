// Package apierror builds the errors of the Step Functions API, with AWS's codes and messages. Pure.
package apierror
