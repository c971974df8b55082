// Package document converts the source text of a state machine definition into the JSON that Step Functions accepts,
// and maps diagnostics back to positions in that text. It supports YAML, as CloudFormation, SAM and the AWS Toolkit
// read it, and the placeholders ${Name} of DefinitionSubstitutions. It reads no files, and it does not validate
// definitions; package asl does.
package document
