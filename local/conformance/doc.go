// Package conformance compares responses with recordings of the real service. It reads the recorded cases, fills the
// placeholders of their calls, runs their programs against a Service and judges the responses on two levels: the
// outcome of each execution, and its whole history. It replaces the Lambda functions and objects that cases use. It
// makes no API calls itself: the tests of local/services/stepfunctions replay the cases over HTTP, in virtual time.
package conformance
