package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/appconfig"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/codepipeline"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/configservice"
	"github.com/aws/aws-sdk-go-v2/service/costexplorer"
	"github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/pipes"
	pipestypes "github.com/aws/aws-sdk-go-v2/service/pipes/types"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/servicecatalog"
	"github.com/aws/aws-sdk-go-v2/service/ssoadmin"
)

// managementServices deploy, configure, govern and account. Of the large ones only what state machines call is here.
var managementServices = []Service{
	{
		Name: "acm", ID: "ACM", Variable: "ACM_ENDPOINT", Class: "Acm",
		Client: func(cfg aws.Config) any {
			c := acm.NewFromConfig(cfg)
			return actions{
				c.DeleteCertificate, c.DescribeCertificate, c.GetCertificate, c.ListCertificates, c.RequestCertificate,
			}
		},
	},
	{
		Name: "apigateway", ID: "API Gateway", Variable: "API_GATEWAY_ENDPOINT", Class: "ApiGateway",
		Client: func(cfg aws.Config) any {
			c := apigateway.NewFromConfig(cfg)
			return actions{
				c.CreateApiKey, c.CreateDeployment, c.CreateUsagePlanKey, c.DeleteApiKey, c.FlushStageCache,
				c.GetApiKey, c.GetApiKeys,
				c.GetDeployments, c.GetRestApi, c.GetRestApis, c.GetStage, c.GetStages, c.UpdateApiKey, c.UpdateStage,
			}
		},
	},
	{
		Name: "appconfig", ID: "AppConfig", Variable: "APPCONFIG_ENDPOINT", Class: "AppConfig",
		Client: func(cfg aws.Config) any {
			c := appconfig.NewFromConfig(cfg)
			return actions{
				c.GetConfiguration, //nolint:staticcheck // deprecated, but Step Functions offers it
				c.CreateHostedConfigurationVersion, c.GetConfigurationProfile, c.GetDeployment,
				c.GetHostedConfigurationVersion, c.ListApplications, c.ListConfigurationProfiles, c.ListDeployments,
				c.ListEnvironments, c.ListHostedConfigurationVersions, c.StartDeployment, c.StopDeployment,
				c.ValidateConfiguration,
			}
		},
	},
	{
		Name: "cloudcontrol", ID: "CloudControl", Variable: "CLOUDCONTROL_ENDPOINT", Class: "CloudControl",
		Client: func(c aws.Config) any { return cloudcontrol.NewFromConfig(c) },
	},
	{
		Name: "cloudfront", ID: "CloudFront", Variable: "CLOUDFRONT_ENDPOINT", Class: "CloudFront",
		Client: func(cfg aws.Config) any {
			c := cloudfront.NewFromConfig(cfg)
			return actions{
				c.CreateInvalidation, c.GetDistribution, c.GetDistributionConfig, c.GetInvalidation,
				c.ListDistributions,
				c.ListInvalidations, c.UpdateDistribution,
			}
		},
	},
	{
		Name: "codepipeline", ID: "CodePipeline", Variable: "CODEPIPELINE_ENDPOINT", Class: "CodePipeline",
		Client: func(cfg aws.Config) any {
			c := codepipeline.NewFromConfig(cfg)
			return actions{
				c.DisableStageTransition, c.EnableStageTransition, c.GetPipelineExecution, c.GetPipelineState,
				c.ListPipelineExecutions, c.PutApprovalResult, c.PutJobFailureResult, c.PutJobSuccessResult,
				c.RetryStageExecution,
				c.StartPipelineExecution, c.StopPipelineExecution,
			}
		},
	},
	{
		Name: "cognitoidentityprovider", ID: "Cognito Identity Provider",
		Variable: "COGNITO_IDENTITY_PROVIDER_ENDPOINT", Class: "CognitoIdentityProvider",
		Client: func(cfg aws.Config) any {
			c := cognitoidentityprovider.NewFromConfig(cfg)
			return actions{
				c.AdminAddUserToGroup, c.AdminConfirmSignUp, c.AdminCreateUser, c.AdminDeleteUser, c.AdminDisableUser,
				c.AdminEnableUser, c.AdminGetUser, c.AdminInitiateAuth, c.AdminListGroupsForUser,
				c.AdminRemoveUserFromGroup,
				c.AdminResetUserPassword, c.AdminRespondToAuthChallenge, c.AdminSetUserPassword,
				c.AdminUpdateUserAttributes,
				c.AdminUserGlobalSignOut, c.CreateGroup, c.DeleteGroup, c.DescribeUserPool, c.GetGroup, c.ListGroups,
				c.ListUserPools,
				c.ListUsers, c.ListUsersInGroup,
			}
		},
	},
	{
		Name: "config", ID: "Config Service", Variable: "CONFIG_SERVICE_ENDPOINT", Class: "Config",
		Client: func(cfg aws.Config) any {
			c := configservice.NewFromConfig(cfg)
			return actions{
				c.DescribeComplianceByConfigRule, c.DescribeConfigRules, c.GetComplianceDetailsByConfigRule,
				c.GetResourceConfigHistory, c.ListDiscoveredResources, c.PutEvaluations,
				c.SelectAggregateResourceConfig,
				c.SelectResourceConfig, c.StartConfigRulesEvaluation, c.StartRemediationExecution,
			}
		},
	},
	{
		Name: "costexplorer", ID: "Cost Explorer", Variable: "COST_EXPLORER_ENDPOINT", Class: "CostExplorer",
		Client: func(cfg aws.Config) any {
			c := costexplorer.NewFromConfig(cfg)
			return actions{
				c.GetAnomalies, c.GetCostAndUsage, c.GetCostForecast, c.GetDimensionValues, c.GetTags,
				c.GetUsageForecast,
			}
		},
	},
	{
		Name: "organizations", ID: "Organizations", Variable: "ORGANIZATIONS_ENDPOINT", Class: "Organizations",
		Client: func(cfg aws.Config) any {
			c := organizations.NewFromConfig(cfg)
			return actions{
				c.AttachPolicy, c.CloseAccount, c.CreateAccount, c.CreateOrganizationalUnit, c.DescribeAccount,
				c.DescribeCreateAccountStatus, c.DescribeOrganization, c.DescribeOrganizationalUnit, c.DetachPolicy,
				c.ListAccounts,
				c.ListAccountsForParent, c.ListChildren, c.ListOrganizationalUnitsForParent, c.ListParents,
				c.ListPolicies,
				c.ListRoots, c.ListTagsForResource, c.MoveAccount, c.TagResource, c.UntagResource,
			}
		},
	},
	{
		Name: "pipes", ID: "Pipes", Variable: "PIPES_ENDPOINT", Class: "Pipes",
		Client: func(cfg aws.Config) any {
			c := pipes.NewFromConfig(cfg)
			return actions{
				c.DescribePipe, c.ListPipes, c.StartPipe, c.StopPipe, c.UpdatePipe,
			}
		},
		unions: []any{
			pipestypes.MQBrokerAccessCredentialsMemberBasicAuth{},
			pipestypes.MSKAccessCredentialsMemberClientCertificateTlsAuth{},
			pipestypes.MSKAccessCredentialsMemberSaslScram512Auth{},
			pipestypes.SelfManagedKafkaAccessConfigurationCredentialsMemberBasicAuth{},
			pipestypes.SelfManagedKafkaAccessConfigurationCredentialsMemberClientCertificateTlsAuth{},
			pipestypes.SelfManagedKafkaAccessConfigurationCredentialsMemberSaslScram256Auth{},
			pipestypes.SelfManagedKafkaAccessConfigurationCredentialsMemberSaslScram512Auth{},
		},
	},
	{
		Name: "resourcegroupstaggingapi", ID: "Resource Groups Tagging API",
		Variable: "RESOURCE_GROUPS_TAGGING_API_ENDPOINT", Class: "ResourceGroupsTaggingApi",
		Client: func(c aws.Config) any { return resourcegroupstaggingapi.NewFromConfig(c) },
	},
	{
		Name: "route53", ID: "Route 53", Variable: "ROUTE_53_ENDPOINT", Class: "Route53",
		Client: func(cfg aws.Config) any {
			c := route53.NewFromConfig(cfg)
			return actions{
				c.ChangeResourceRecordSets, c.ChangeTagsForResource, c.CreateHealthCheck, c.CreateHostedZone,
				c.DeleteHealthCheck,
				c.DeleteHostedZone, c.GetChange, c.GetHealthCheck, c.GetHealthCheckStatus, c.GetHostedZone,
				c.ListHealthChecks,
				c.ListHostedZones, c.ListHostedZonesByName, c.ListResourceRecordSets, c.UpdateHealthCheck,
			}
		},
	},
	{
		Name: "servicecatalog", ID: "Service Catalog", Variable: "SERVICE_CATALOG_ENDPOINT", Class: "ServiceCatalog",
		Client: func(cfg aws.Config) any {
			c := servicecatalog.NewFromConfig(cfg)
			return actions{
				c.DescribeProduct, c.DescribeProvisionedProduct, c.DescribeRecord, c.GetProvisionedProductOutputs,
				c.ListLaunchPaths,
				c.ProvisionProduct, c.ScanProvisionedProducts, c.SearchProducts, c.SearchProvisionedProducts,
				c.TerminateProvisionedProduct, c.UpdateProvisionedProduct,
			}
		},
	},
	{
		Name: "ssoadmin", ID: "SSO Admin", Variable: "SSO_ADMIN_ENDPOINT", Class: "SsoAdmin",
		Client: func(cfg aws.Config) any {
			c := ssoadmin.NewFromConfig(cfg)
			return actions{
				c.AttachManagedPolicyToPermissionSet, c.CreateAccountAssignment, c.CreatePermissionSet,
				c.DeleteAccountAssignment,
				c.DescribeAccountAssignmentCreationStatus, c.DescribeAccountAssignmentDeletionStatus,
				c.DescribePermissionSet,
				c.ListAccountAssignments, c.ListInstances, c.ListPermissionSets, c.ProvisionPermissionSet,
				c.PutInlinePolicyToPermissionSet,
			}
		},
	},
}
