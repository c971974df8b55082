// Package definitions finds state machine definitions in what people keep them in: CloudFormation and SAM templates,
// those of a cdk.out directory, Terraform's JSON (configurations and plans), and serverless.yml of the plugin
// serverless-step-functions. What a template leaves to the deployment (Ref, Fn::GetAtt, Fn::Sub) becomes a placeholder
// ${Name}, which asl/document knows what to do with.
//
// It reads texts, not files, and does not judge definitions.
package definitions
