package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrock"
	bedrocktypes "github.com/aws/aws-sdk-go-v2/service/bedrock/types"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagent"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentruntime"
	bedrockagentruntimedocument "github.com/aws/aws-sdk-go-v2/service/bedrockagentruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	bedrockruntimedocument "github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/sagemaker"
	"github.com/aws/aws-sdk-go-v2/service/sagemakerruntime"
)

// modelServices train and use models. Of the large ones only what state machines call is here.
var modelServices = []Service{
	{
		Name: "bedrock", ID: "Bedrock", Variable: "BEDROCK_ENDPOINT", Class: "Bedrock",
		Client: func(cfg aws.Config) any {
			c := bedrock.NewFromConfig(cfg)
			return actions{
				c.CreateModelCustomizationJob, c.CreateModelInvocationJob, c.CreateProvisionedModelThroughput,
				c.DeleteProvisionedModelThroughput, c.GetCustomModel, c.GetFoundationModel, c.GetModelCustomizationJob,
				c.GetModelInvocationJob, c.GetProvisionedModelThroughput, c.ListCustomModels, c.ListFoundationModels,
				c.ListModelCustomizationJobs, c.ListModelInvocationJobs, c.StopModelCustomizationJob,
				c.StopModelInvocationJob,
			}
		},
		unions: []any{
			bedrocktypes.CustomizationConfigMemberDistillationConfig{},
			bedrocktypes.CustomizationConfigMemberRftConfig{},
			bedrocktypes.GraderConfigMemberLambdaGrader{}, bedrocktypes.InvocationLogSourceMemberS3Uri{},
			bedrocktypes.ModelInvocationJobInputDataConfigMemberS3InputDataConfig{},
			bedrocktypes.ModelInvocationJobOutputDataConfigMemberS3OutputDataConfig{},
			bedrocktypes.RequestMetadataFiltersMemberAndAll{}, bedrocktypes.RequestMetadataFiltersMemberEquals{},
			bedrocktypes.RequestMetadataFiltersMemberNotEquals{}, bedrocktypes.RequestMetadataFiltersMemberOrAll{},
		},
	},
	{
		Name: "bedrockagent", ID: "Bedrock Agent", Variable: "BEDROCK_AGENT_ENDPOINT", Class: "BedrockAgent",
		Client: func(cfg aws.Config) any {
			c := bedrockagent.NewFromConfig(cfg)
			return actions{
				c.GetIngestionJob, c.ListDataSources, c.ListIngestionJobs, c.ListKnowledgeBases, c.StartIngestionJob,
				c.StopIngestionJob,
			}
		},
	},
	{
		Name: "bedrockagentruntime", ID: "Bedrock Agent Runtime", Variable: "BEDROCK_AGENT_RUNTIME_ENDPOINT",
		Class: "BedrockAgentRuntime",
		Client: func(cfg aws.Config) any {
			c := bedrockagentruntime.NewFromConfig(cfg)
			return actions{c.GenerateQuery, c.Rerank, c.Retrieve, c.RetrieveAndGenerate}
		},
		unions:   bedrockagentruntimeUnions,
		document: func(v any) any { return bedrockagentruntimedocument.NewLazyDocument(v) },
	},
	{
		Name: "bedrockruntime", ID: "Bedrock Runtime", Variable: "BEDROCK_RUNTIME_ENDPOINT", Class: "BedrockRuntime",
		Client: func(c aws.Config) any { return bedrockruntime.NewFromConfig(c) },
		unions: bedrockruntimeUnions, document: func(v any) any { return bedrockruntimedocument.NewLazyDocument(v) },
	},
	{
		Name: "sagemaker", ID: "SageMaker", Variable: "SAGE_MAKER_ENDPOINT", Class: "SageMaker",
		Client: func(cfg aws.Config) any {
			c := sagemaker.NewFromConfig(cfg)
			return actions{
				c.AddTags, c.CreateEndpoint, c.CreateEndpointConfig, c.CreateHyperParameterTuningJob,
				c.CreateLabelingJob, c.CreateModel,
				c.CreateModelPackage, c.CreateProcessingJob, c.CreateTrainingJob, c.CreateTransformJob,
				c.DeleteEndpoint,
				c.DeleteEndpointConfig, c.DeleteModel, c.DescribeEndpoint, c.DescribeEndpointConfig,
				c.DescribeHyperParameterTuningJob, c.DescribeLabelingJob, c.DescribeModel, c.DescribeModelPackage,
				c.DescribePipelineExecution, c.DescribeProcessingJob, c.DescribeTrainingJob, c.DescribeTransformJob,
				c.ListEndpoints,
				c.ListModelPackages, c.ListModels, c.ListTrainingJobs, c.ListTransformJobs, c.StartPipelineExecution,
				c.StopHyperParameterTuningJob, c.StopLabelingJob, c.StopPipelineExecution, c.StopProcessingJob,
				c.StopTrainingJob,
				c.StopTransformJob, c.UpdateEndpoint, c.UpdateEndpointWeightsAndCapacities, c.UpdateModelPackage,
			}
		},
	},
	{
		Name: "sagemakerruntime", ID: "SageMaker Runtime", Variable: "SAGEMAKER_RUNTIME_ENDPOINT",
		Class:  "SageMakerRuntime",
		Client: func(c aws.Config) any { return sagemakerruntime.NewFromConfig(c) },
	},
}
