// Package conformance compares answers with recordings of the real service. It reads the recorded cases, fills the
// placeholders of their calls, runs their programs against a Service and judges the answers on two levels: the outcome
// of each execution, and its whole history. It stands in for the Lambda functions and the objects that cases use. It
// makes no API call itself: the tests of local/services/stepfunctions replay the cases over HTTP, in virtual time.
package conformance
