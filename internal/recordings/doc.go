// Package recordings holds what others answered, for tests to compare with: Step Functions itself (cases/, whose form
// FORMAT.md describes), the reference implementation of JSONata (jsonata/) and Jayway JsonPath (jsonpath/). A clone of
// the repository therefore runs every comparison without further files.
//
// The cases come from the tests of LocalStack that were validated against AWS (Apache-2.0): definitions, inputs and
// recorded answers, no test code. The expressions of jsonata/ are those of the official test suite of JSONata 2.0.6
// (MIT) and of our own, with what jsonata-js answered; those of jsonpath/ are our own, with what Jayway JsonPath
// answered.
//
// Only tests import this package. It judges nothing: conformance and the tests of asl do. `make recordings`
// packs the archive from a folder.
package recordings
