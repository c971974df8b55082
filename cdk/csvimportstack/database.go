package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// database is how functions reach the users table.
type database struct {
	url    *string                                  // DATABASE_URL
	access awsiam.PolicyStatement                   // what a function must be allowed
	vpc    *awslambda.CfnFunction_VpcConfigProperty // where it has to be; nil is anywhere
	ready  []awscdk.CfnResource                     // what has to exist before a function may run
}

func (s *Stack) addDatabase() database {
	if s.Environment.Database.SecretARN != "" {
		return s.existingDatabase()
	}
	return s.auroraDatabase()
}

// databaseIdentity tells databases apart: the secret that leads to an existing one, or aurora for the stack's own.
// cdk/guard.mjs compares it with what is deployed.
func (s *Stack) databaseIdentity() *string {
	if secret := s.Environment.Database.SecretARN; secret != "" {
		return jsii.String(secret)
	}
	return jsii.String("aurora")
}

// existingDatabase is one that a secret leads to.
func (s *Stack) existingDatabase() database {
	given := s.Environment.Database
	d := database{
		url:    jsii.String("secretsmanager:" + given.SecretARN),
		access: allow([]string{"secretsmanager:GetSecretValue"}, jsii.String(given.SecretARN)),
	}
	if len(given.SubnetIDs) > 0 {
		d.vpc = &awslambda.CfnFunction_VpcConfigProperty{
			SubnetIds: jsii.Strings(given.SubnetIDs...), SecurityGroupIds: jsii.Strings(given.SecurityGroupIDs...),
		}
	}
	return d
}

// allow is a statement over exactly these resources.
func allow(actions []string, resources ...*string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...),
		Resources: &resources})
}
