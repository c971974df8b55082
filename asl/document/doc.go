// Package document turns what people keep state machine definitions in into the JSON that Step Functions takes, and
// finds the way back: where in their text stands what a diagnostic is about. It knows YAML, as CloudFormation, SAM and
// the AWS Toolkit read it, and the placeholders ${Name} of DefinitionSubstitutions. It reads no files, and it does not
// judge definitions; package asl does.
package document
