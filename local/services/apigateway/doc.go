// Package apigateway implements the API of Amazon API Gateway for HTTP APIs (version 2 of the API), and the gateway
// itself: routes with path variables, integrations with functions in both payload formats, with services (Step
// Functions, SQS, EventBridge) and with HTTP servers, stages, deployments and CORS.
//
// An API is called at http://ID.execute-api.localhost:PORT/…, and at invokePath + ID + "/STAGE/…" of the platform's
// address. A stage serves the copy that its deployment contains; stages with AutoDeploy get a new deployment after
// each change. Every change is stored before the request is answered.
//
// WebSocket APIs, custom domains, VPC links and JWT authorizers are not supported, and nothing is throttled.
package apigateway
