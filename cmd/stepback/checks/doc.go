// Package checks implements the verbs that check state machines from files alone: validate, test and retries review.
// It imports no service, so that a build with the tag checks, which has only these verbs, is small.
package checks
