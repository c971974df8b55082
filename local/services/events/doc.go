// Package events implements the API of Amazon EventBridge: buses, rules with patterns and schedules, their targets,
// the targets' input (Input, InputPath, InputTransformer), retries and dead letters, connections and API
// destinations.
//
// Events that PutEvents has accepted reach the targets of matching rules at least once, even after kill -9; those for
// SQS queues are already there when PutEvents responds. Events that no rule matches are dropped, as on AWS. The time
// is that of the platform's clock, including virtual and scaled time.
//
// Permissions are not checked: policies of buses are stored and returned. Targets are those to which the platform
// delivers (package delivery); others are rejected by name. Archives keep events until they are replayed. Partner
// event sources, global endpoints and schemas are not supported.
package events
