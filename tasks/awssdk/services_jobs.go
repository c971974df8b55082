package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/databrew"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/emrcontainers"
	emrcontainerstypes "github.com/aws/aws-sdk-go-v2/service/emrcontainers/types"
	"github.com/aws/aws-sdk-go-v2/service/mediaconvert"
)

// jobServices run the jobs of optimized integrations, beside those that are called for much else. Of the large ones
// only what state machines call is here.
var jobServices = []Service{
	{
		Name: "databrew", ID: "DataBrew", Variable: "DATABREW_ENDPOINT", Class: "DataBrew",
		Client: func(cfg aws.Config) any {
			c := databrew.NewFromConfig(cfg)
			return actions{
				c.CreateDataset, c.CreateProfileJob, c.CreateRecipe, c.CreateRecipeJob, c.DeleteDataset, c.DeleteJob,
				c.DescribeDataset,
				c.DescribeJob, c.DescribeJobRun, c.ListDatasets, c.ListJobRuns, c.ListJobs, c.PublishRecipe,
				c.StartJobRun, c.StopJobRun,
				c.UpdateDataset, c.UpdateProfileJob, c.UpdateRecipeJob,
			}
		},
	},
	{
		Name: "eks", ID: "EKS", Variable: "EKS_ENDPOINT", Class: "Eks",
		Client: func(cfg aws.Config) any {
			c := eks.NewFromConfig(cfg)
			return actions{
				c.CreateAddon, c.CreateCluster, c.CreateFargateProfile, c.CreateNodegroup, c.DeleteAddon,
				c.DeleteCluster,
				c.DeleteFargateProfile, c.DeleteNodegroup, c.DescribeAddon, c.DescribeCluster, c.DescribeFargateProfile,
				c.DescribeNodegroup, c.DescribeUpdate, c.ListAddons, c.ListClusters, c.ListFargateProfiles,
				c.ListNodegroups,
				c.ListUpdates, c.TagResource, c.UntagResource, c.UpdateAddon, c.UpdateClusterConfig,
				c.UpdateClusterVersion,
				c.UpdateNodegroupConfig, c.UpdateNodegroupVersion,
			}
		},
	},
	{
		Name: "emrcontainers", ID: "EMR containers", Variable: "EMR_CONTAINERS_ENDPOINT", Class: "EmrContainers",
		Client: func(c aws.Config) any { return emrcontainers.NewFromConfig(c) },
		unions: []any{emrcontainerstypes.ContainerInfoMemberEksInfo{}, emrcontainerstypes.CredentialsMemberToken{}},
	},
	{
		Name: "mediaconvert", ID: "MediaConvert", Variable: "MEDIACONVERT_ENDPOINT", Class: "MediaConvert",
		Client: func(cfg aws.Config) any {
			c := mediaconvert.NewFromConfig(cfg)
			return actions{
				c.DescribeEndpoints, //nolint:staticcheck // deprecated, but Step Functions offers it
				c.CancelJob, c.CreateJob, c.CreateJobTemplate, c.GetJob, c.GetJobTemplate, c.GetJobsQueryResults,
				c.GetPreset, c.GetQueue, c.ListJobTemplates, c.ListJobs, c.ListQueues, c.Probe, c.SearchJobs,
				c.StartJobsQuery,
			}
		},
	},
}
