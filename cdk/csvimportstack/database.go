package csvimportstack

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// database describes how functions reach the users table.
type database struct {
	url          *string                                  // DATABASE_URL
	access       awsiam.PolicyStatement                   // the permission that a function needs
	vpc          *awslambda.CfnFunction_VpcConfigProperty // where the function must run; nil means anywhere
	dependencies []awscdk.CfnResource                     // what has to exist before a function may run
}

func (s *Stack) addDatabase() database {
	switch given := s.Environment.Database; {
	case given.SecretARN != "":
		return s.existingDatabase()
	case given.URLParameter != "":
		return database{
			url: jsii.String("{{resolve:ssm:" + given.URLParameter + "}}"),
			access: allow([]string{"ssm:GetParameter"}, s.FormatArn(&awscdk.ArnComponents{Service: jsii.String("ssm"),
				Resource: jsii.String("parameter"), ResourceName: jsii.String(strings.TrimPrefix(given.URLParameter, "/"))})),
		}
	}
	return s.auroraDatabase()
}

// databaseIdentity returns a text that identifies the database: the secret or the parameter of an existing one, or
// aurora for the stack's own. cdk/guard.mjs compares it with the deployed one.
func (s *Stack) databaseIdentity() *string {
	if secret := s.Environment.Database.SecretARN; secret != "" {
		return jsii.String(secret)
	}
	if parameter := s.Environment.Database.URLParameter; parameter != "" {
		return jsii.String("ssm:" + parameter)
	}
	return jsii.String("aurora")
}

// existingDatabase returns a database whose address is in a secret.
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

// allow returns a statement over exactly these resources.
func allow(actions []string, resources ...*string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...),
		Resources: &resources})
}
