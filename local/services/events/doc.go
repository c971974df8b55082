// Package events is the API of Amazon EventBridge: buses, rules with patterns and schedules, their targets, what
// targets are given (Input, InputPath, InputTransformer), retries and dead letters, connections and API destinations.
//
// Events that PutEvents has accepted reach the targets of the rules that match them at least once, also after kill -9;
// those for SQS queues are there already when PutEvents answers. Events that no rule matches are forgotten, as on AWS.
// Time is the platform's clock, virtual and scaled time included.
//
// It checks no permissions: policies of buses are kept and shown. Targets are those that the platform delivers to
// (package delivery); others are refused by name. Archives keep events until they are replayed. It
// has no partner event sources, no global endpoints and no schemas.
package events
