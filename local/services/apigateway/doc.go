// Package apigateway is the API of Amazon API Gateway for HTTP APIs (version 2 of the API), and the gateway itself:
// routes with path variables, integrations with functions in both payload formats, with services (Step Functions, SQS,
// EventBridge) and with HTTP servers, stages, deployments and CORS.
//
// An API is called at http://ID.execute-api.localhost:PORT/…, and at InvokePath + ID + "/STAGE/…" of the platform's
// address. What a stage serves is what its deployment has copied; stages with AutoDeploy have a new deployment after
// each change. Everything is kept in the store before it is answered.
//
// It has no WebSocket APIs, custom domains, VPC links or JWT authorizers, and throttles nothing.
package apigateway
