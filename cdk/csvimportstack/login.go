package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsrds"
	"github.com/aws/aws-cdk-go/awscdk/v2/customresources"
	"github.com/aws/jsii-runtime-go"
)

// createLogin creates the database user of the functions. The user may create and use its own tables in the schema
// public, and authenticates only with IAM tokens. Running createLogin again changes nothing.
const createLogin = `DO $$ BEGIN
IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '` + databaseUser + `') THEN CREATE ROLE ` + databaseUser +
	` LOGIN; END IF;
GRANT rds_iam TO ` + databaseUser + `;
GRANT USAGE, CREATE ON SCHEMA public TO ` + databaseUser + `;
END $$`

// databaseLogin creates the functions' user through the Data API once the writer exists, so that deploying a stack
// needs no access to the VPC.
func (s *Stack) databaseLogin(cluster awsrds.DatabaseCluster) awscdk.CfnResource {
	secret := cluster.Secret().SecretArn()
	call := &customresources.AwsSdkCall{
		Service: jsii.String("@aws-sdk/client-rds-data"), Action: jsii.String("ExecuteStatementCommand"),
		Parameters: map[string]any{
			"resourceArn": cluster.ClusterArn(), "secretArn": secret, "database": databaseName, "sql": createLogin,
		},
		PhysicalResourceId: customresources.PhysicalResourceId_Of(jsii.String("login-" + databaseUser)),
	}
	login := customresources.NewAwsCustomResource(s.Stack, jsii.String("DatabaseLogin"),
		&customresources.AwsCustomResourceProps{
			OnCreate: call, OnUpdate: call, InstallLatestAwsSdk: jsii.Bool(false),
			ResourceType: jsii.String("Custom::DatabaseLogin"),
			LogGroup: awslogs.NewLogGroup(s.Stack, jsii.String("DatabaseLoginLog"), &awslogs.LogGroupProps{
				Retention: retention(s.Environment.LogDays), RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
			}),
			Policy: customresources.AwsCustomResourcePolicy_FromStatements(&[]awsiam.PolicyStatement{
				allow([]string{"rds-data:ExecuteStatement"}, cluster.ClusterArn()),
				allow([]string{"secretsmanager:GetSecretValue"}, secret),
			}),
		})
	login.Node().AddDependency(cluster)
	return login.Node().FindChild(jsii.String("Resource")).Node().DefaultChild().(awscdk.CfnResource)
}
