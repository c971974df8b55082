// Package definitions reads state machine definitions, JSON or YAML, from files and from the templates that contain
// them: CloudFormation and SAM templates, including those in a cdk.out directory, Terraform's JSON (configurations and
// plans), and serverless.yml of the plugin serverless-step-functions. A value that is only known at deployment (Ref,
// Fn::GetAtt, Fn::Sub) becomes a placeholder ${Name}, which asl/document handles.
//
// In finds the definitions in a template's text. Read reads one from a file, with the values of its placeholders, as a
// File, which can be validated.
package definitions
