// Package deployment unpacks the deployment packages of Lambda functions. The zip files are untrusted: nothing is
// written outside the target directory, no link points out of it, and neither the total size nor the number of files
// exceeds the limits, whatever the zip file claims about itself.
//
// It never runs anything and does not inspect the contents of files.
package deployment
