// Package definitions finds state machine definitions in the files that contain them: CloudFormation and SAM
// templates, including those in a cdk.out directory, Terraform's JSON (configurations and plans), and serverless.yml
// of the plugin serverless-step-functions. A value that is only known at deployment (Ref, Fn::GetAtt, Fn::Sub)
// becomes a placeholder ${Name}, which asl/document handles.
//
// The package reads texts, not files, and does not validate definitions.
package definitions
