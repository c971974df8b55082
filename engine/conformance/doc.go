// Package conformance compares an engine's answers with recordings of the real service. It reads the recorded cases, fills the
// placeholders of their calls and judges the answers on two levels: the outcome of each execution, and its whole history. It
// stands in for the Lambda functions and the objects that cases use. Its tests replay the cases against the embedded engine in
// virtual time; the package itself carries out no API call.
package conformance
