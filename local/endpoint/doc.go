// Package endpoint is one address for several AWS services, as AWS_ENDPOINT_URL wants one: it finds out which service a
// request is meant for and hands it on. What names no other service is S3's.
//
// It answers requests that come from this machine's programs only: a request whose Host is a stranger's name, as DNS
// rebinding makes a browser send it, or that a web page of another origin sent, is refused. It checks no signature, and
// it knows no operation of any service.
package endpoint
