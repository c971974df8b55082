// Package recordings holds the recorded results of others, for tests to compare with: Step Functions itself (cases/,
// whose format FORMAT.md describes), the reference implementation of JSONata (jsonata/) and Jayway JsonPath
// (jsonpath/). A clone of the repository therefore runs every comparison without further files.
//
// The cases come from the tests of LocalStack that were validated against AWS (Apache-2.0): definitions, inputs and
// recorded responses, no test code. The expressions of jsonata/ are those of the official test suite of JSONata 2.0.6
// (MIT) and our own, with the results of jsonata-js; those of jsonpath/ are our own, with the results of Jayway
// JsonPath.
//
// Only tests import this package. It judges nothing: conformance and the tests of asl do. `make recordings` packs the
// archive from a folder.
package recordings
