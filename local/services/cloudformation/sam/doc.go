// Package sam expands the transform AWS::Serverless-2016-10-31: functions, state machines, tables and layers of the
// Serverless Application Model become the resources of CloudFormation that AWS's own transform makes of them, with the
// same logical IDs. What it does not expand it refuses by name.
//
// It is pure: it changes a document and calls nothing.
package sam
