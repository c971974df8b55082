// Package sam expands the transform AWS::Serverless-2016-10-31: functions, state machines, tables and layers of the
// Serverless Application Model become the CloudFormation resources that AWS's own transform generates, with the same
// logical IDs. What it does not expand it rejects by name.
//
// The package is pure: it changes a document and calls nothing.
package sam
