// Package httptask performs HTTP Tasks (arn:aws:states:::http:invoke) and API Gateway calls
// (arn:aws:states:::apigateway:invoke). It sends the request that the parameters describe, with the authorization
// of an EventBridge connection or a signature. It returns the response or the error in the form of Step Functions.
// It follows no redirects, tries once, and never reveals a connection's secrets.
package httptask
