// Package httptask carries out HTTP Tasks (arn:aws:states:::http:invoke) and calls of APIs
// (arn:aws:states:::apigateway:invoke): it makes the request that the parameters describe, with the authorization of an
// EventBridge connection or a signature, and shapes the response and its failures as Step Functions does. It follows no
// redirect, tries once, and never shows what a connection keeps secret.
package httptask
