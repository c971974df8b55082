// Package deployment unpacks the deployment packages of Lambda functions: zip files that come from anybody. Nothing of
// a package is written outside the directory it is unpacked into, no link leads out of it, and neither its size nor the
// number of its files passes Lambda's limits, whatever the zip file claims about itself.
//
// It never runs anything, and it does not look at what the files are.
package deployment
