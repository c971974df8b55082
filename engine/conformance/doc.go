// Package conformance compares an engine's answers with recordings of the real service. It reads the recorded cases, fills the
// placeholders of their calls and judges the answers on two levels: the outcome of each execution, and its whole history.
// Its tests replay the cases against the embedded engine in virtual time. It carries out no call itself.
package conformance
