// Package endpoint serves several AWS services at one address, as AWS_ENDPOINT_URL requires: it determines the
// service that a request is for and forwards the request. A request that names no other service is for S3.
//
// It accepts requests from this machine's programs only. It refuses a request whose Host is a foreign name, which a
// browser sends after DNS rebinding, and one sent by a web page of another origin, unless the service has rules for
// such pages itself. It checks no signature, and does not know the operations of any service.
package endpoint
