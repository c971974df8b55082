// Package httptask performs HTTP Tasks (arn:aws:states:::http:invoke) and API Gateway calls
// (arn:aws:states:::apigateway:invoke): it sends the request that the parameters describe, with the authorization of
// an EventBridge connection or a signature, and shapes the response and its failures as Step Functions does. It
// follows no redirects, tries once, and never reveals a connection's secrets.
package httptask
