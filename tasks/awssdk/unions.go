package awssdk

import (
	bedrockagentruntimetypes "github.com/aws/aws-sdk-go-v2/service/bedrockagentruntime/types"
	bedrockruntimetypes "github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	cloudwatchlogstypes "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	ecstypes "github.com/aws/aws-sdk-go-v2/service/ecs/types"
	emrtypes "github.com/aws/aws-sdk-go-v2/service/emr/types"
	emrserverlesstypes "github.com/aws/aws-sdk-go-v2/service/emrserverless/types"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	rdsdatatypes "github.com/aws/aws-sdk-go-v2/service/rdsdata/types"
	redshiftdatatypes "github.com/aws/aws-sdk-go-v2/service/redshiftdata/types"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	sesv2types "github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	xraytypes "github.com/aws/aws-sdk-go-v2/service/xray/types"
)

// The members of the union types that parameters and results have. Go cannot list the types that implement an
// interface, so they stand here; those of event streams do not, since no task reads one.
var (
	bedrockagentruntimeUnions = []any{
		bedrockagentruntimetypes.RerankingMetadataSelectiveModeConfigurationMemberFieldsToExclude{},
		bedrockagentruntimetypes.RerankingMetadataSelectiveModeConfigurationMemberFieldsToInclude{},
		bedrockagentruntimetypes.RetrievalFilterMemberAndAll{}, bedrockagentruntimetypes.RetrievalFilterMemberEquals{},
		bedrockagentruntimetypes.RetrievalFilterMemberGreaterThan{},
		bedrockagentruntimetypes.RetrievalFilterMemberGreaterThanOrEquals{},
		bedrockagentruntimetypes.RetrievalFilterMemberIn{},
		bedrockagentruntimetypes.RetrievalFilterMemberLessThan{},
		bedrockagentruntimetypes.RetrievalFilterMemberLessThanOrEquals{},
		bedrockagentruntimetypes.RetrievalFilterMemberListContains{},
		bedrockagentruntimetypes.RetrievalFilterMemberNotEquals{},
		bedrockagentruntimetypes.RetrievalFilterMemberNotIn{}, bedrockagentruntimetypes.RetrievalFilterMemberOrAll{},
		bedrockagentruntimetypes.RetrievalFilterMemberStartsWith{},
		bedrockagentruntimetypes.RetrievalFilterMemberStringContains{},
	}
	bedrockruntimeUnions = []any{
		bedrockruntimetypes.AsyncInvokeOutputDataConfigMemberS3OutputDataConfig{},
		bedrockruntimetypes.AudioSourceMemberBytes{},
		bedrockruntimetypes.AudioSourceMemberS3Location{}, bedrockruntimetypes.CitationGeneratedContentMemberText{},
		bedrockruntimetypes.CitationLocationMemberDocumentChar{},
		bedrockruntimetypes.CitationLocationMemberDocumentChunk{},
		bedrockruntimetypes.CitationLocationMemberDocumentPage{},
		bedrockruntimetypes.CitationLocationMemberSearchResultLocation{},
		bedrockruntimetypes.CitationLocationMemberWeb{}, bedrockruntimetypes.CitationSourceContentMemberText{},
		bedrockruntimetypes.ContentBlockMemberAudio{}, bedrockruntimetypes.ContentBlockMemberCachePoint{},
		bedrockruntimetypes.ContentBlockMemberCitationsContent{}, bedrockruntimetypes.ContentBlockMemberDocument{},
		bedrockruntimetypes.ContentBlockMemberGuardContent{}, bedrockruntimetypes.ContentBlockMemberImage{},
		bedrockruntimetypes.ContentBlockMemberReasoningContent{}, bedrockruntimetypes.ContentBlockMemberSearchResult{},
		bedrockruntimetypes.ContentBlockMemberText{}, bedrockruntimetypes.ContentBlockMemberToolAddition{},
		bedrockruntimetypes.ContentBlockMemberToolRemoval{}, bedrockruntimetypes.ContentBlockMemberToolResult{},
		bedrockruntimetypes.ContentBlockMemberToolUse{}, bedrockruntimetypes.ContentBlockMemberVideo{},
		bedrockruntimetypes.ConverseOutputMemberMessage{}, bedrockruntimetypes.CountTokensInputMemberConverse{},
		bedrockruntimetypes.CountTokensInputMemberInvokeModel{}, bedrockruntimetypes.DocumentContentBlockMemberText{},
		bedrockruntimetypes.DocumentSourceMemberBytes{}, bedrockruntimetypes.DocumentSourceMemberContent{},
		bedrockruntimetypes.DocumentSourceMemberS3Location{}, bedrockruntimetypes.DocumentSourceMemberText{},
		bedrockruntimetypes.GuardrailAutomatedReasoningFindingMemberImpossible{},
		bedrockruntimetypes.GuardrailAutomatedReasoningFindingMemberInvalid{},
		bedrockruntimetypes.GuardrailAutomatedReasoningFindingMemberNoTranslations{},
		bedrockruntimetypes.GuardrailAutomatedReasoningFindingMemberSatisfiable{},
		bedrockruntimetypes.GuardrailAutomatedReasoningFindingMemberTooComplex{},
		bedrockruntimetypes.GuardrailAutomatedReasoningFindingMemberTranslationAmbiguous{},
		bedrockruntimetypes.GuardrailAutomatedReasoningFindingMemberValid{},
		bedrockruntimetypes.GuardrailChecksContentBlockMemberText{},
		bedrockruntimetypes.GuardrailContentBlockMemberImage{},
		bedrockruntimetypes.GuardrailContentBlockMemberText{},
		bedrockruntimetypes.GuardrailConverseContentBlockMemberImage{},
		bedrockruntimetypes.GuardrailConverseContentBlockMemberText{},
		bedrockruntimetypes.GuardrailConverseImageSourceMemberBytes{},
		bedrockruntimetypes.GuardrailImageSourceMemberBytes{}, bedrockruntimetypes.ImageSourceMemberBytes{},
		bedrockruntimetypes.ImageSourceMemberS3Location{}, bedrockruntimetypes.OutputFormatStructureMemberJsonSchema{},
		bedrockruntimetypes.PromptVariableValuesMemberText{},
		bedrockruntimetypes.ReasoningContentBlockMemberReasoningText{},
		bedrockruntimetypes.ReasoningContentBlockMemberRedactedContent{},
		bedrockruntimetypes.SystemContentBlockMemberCachePoint{},
		bedrockruntimetypes.SystemContentBlockMemberGuardContent{}, bedrockruntimetypes.SystemContentBlockMemberText{},
		bedrockruntimetypes.ToolMemberCachePoint{}, bedrockruntimetypes.ToolMemberSystemTool{},
		bedrockruntimetypes.ToolMemberToolSpec{}, bedrockruntimetypes.ToolChoiceMemberAny{},
		bedrockruntimetypes.ToolChoiceMemberAuto{}, bedrockruntimetypes.ToolChoiceMemberTool{},
		bedrockruntimetypes.ToolInputSchemaMemberJson{}, bedrockruntimetypes.ToolResultContentBlockMemberDocument{},
		bedrockruntimetypes.ToolResultContentBlockMemberImage{}, bedrockruntimetypes.ToolResultContentBlockMemberJson{},
		bedrockruntimetypes.ToolResultContentBlockMemberSearchResult{},
		bedrockruntimetypes.ToolResultContentBlockMemberText{},
		bedrockruntimetypes.ToolResultContentBlockMemberVideo{}, bedrockruntimetypes.VideoSourceMemberBytes{},
		bedrockruntimetypes.VideoSourceMemberS3Location{},
	}
	cloudwatchlogsUnions = []any{
		cloudwatchlogstypes.IntegrationDetailsMemberOpenSearchIntegrationDetails{},
		cloudwatchlogstypes.ResourceConfigMemberOpenSearchResourceConfig{},
	}
	dynamodbUnions = []any{
		dynamodbtypes.AttributeValueMemberB{}, dynamodbtypes.AttributeValueMemberBOOL{},
		dynamodbtypes.AttributeValueMemberBS{},
		dynamodbtypes.AttributeValueMemberL{}, dynamodbtypes.AttributeValueMemberM{},
		dynamodbtypes.AttributeValueMemberN{},
		dynamodbtypes.AttributeValueMemberNS{}, dynamodbtypes.AttributeValueMemberNULL{},
		dynamodbtypes.AttributeValueMemberS{},
		dynamodbtypes.AttributeValueMemberSS{},
	}
	ecsUnions = []any{
		ecstypes.DescribeGatewayConfigurationMemberHostSharedAlb{}, ecstypes.GatewayConfigurationMemberHostSharedAlb{},
		ecstypes.GatewayConnectionResourcesMemberHostSharedAlb{}, ecstypes.GatewayElbAccessLogDestinationMemberS3{},
		ecstypes.GatewayInfrastructureResourcesMemberHostSharedAlb{},
		ecstypes.GatewayRouteResourcesMemberHostSharedAlb{},
		ecstypes.ServiceConnectContainerConfigurationMemberLogLevel{}, ecstypes.SharingStrategyMemberNvidiaMps{},
		ecstypes.UpdateGatewayConfigurationMemberHostSharedAlb{},
	}
	emrUnions = []any{
		emrtypes.CredentialsMemberUsernamePassword{},
	}
	emrserverlessUnions = []any{
		emrserverlesstypes.JobDriverMemberHive{}, emrserverlesstypes.JobDriverMemberSparkSubmit{},
	}
	glueUnions = []any{
		gluetypes.SearchFilterClauseMemberAndAllFilters{}, gluetypes.SearchFilterClauseMemberAttributeFilter{},
		gluetypes.SearchFilterClauseMemberMapFilter{}, gluetypes.SearchFilterClauseMemberOrAnyFilters{},
		gluetypes.SearchFilterValueMemberLongValue{}, gluetypes.SearchFilterValueMemberStringValue{},
		gluetypes.SearchMapFilterValueMemberStringValue{},
		gluetypes.TableOptimizerVpcConfigurationMemberGlueConnectionName{},
	}
	iamUnions = []any{
		iamtypes.PolicyIdentifierMemberInlinePolicyIdentifier{}, iamtypes.PolicyIdentifierMemberPolicyArn{},
		iamtypes.PolicyIdentifierMemberPolicyType{},
	}
	rdsdataUnions = []any{
		rdsdatatypes.ArrayValueMemberArrayValues{}, rdsdatatypes.ArrayValueMemberBooleanValues{},
		rdsdatatypes.ArrayValueMemberDoubleValues{}, rdsdatatypes.ArrayValueMemberLongValues{},
		rdsdatatypes.ArrayValueMemberStringValues{}, rdsdatatypes.FieldMemberArrayValue{},
		rdsdatatypes.FieldMemberBlobValue{},
		rdsdatatypes.FieldMemberBooleanValue{}, rdsdatatypes.FieldMemberDoubleValue{}, rdsdatatypes.FieldMemberIsNull{},
		rdsdatatypes.FieldMemberLongValue{}, rdsdatatypes.FieldMemberStringValue{},
		rdsdatatypes.ValueMemberArrayValues{},
		rdsdatatypes.ValueMemberBigIntValue{}, rdsdatatypes.ValueMemberBitValue{}, rdsdatatypes.ValueMemberBlobValue{},
		rdsdatatypes.ValueMemberDoubleValue{}, rdsdatatypes.ValueMemberIntValue{}, rdsdatatypes.ValueMemberIsNull{},
		rdsdatatypes.ValueMemberRealValue{}, rdsdatatypes.ValueMemberStringValue{},
		rdsdatatypes.ValueMemberStructValue{},
	}
	redshiftdataUnions = []any{
		redshiftdatatypes.FieldMemberBlobValue{}, redshiftdatatypes.FieldMemberBooleanValue{},
		redshiftdatatypes.FieldMemberDoubleValue{}, redshiftdatatypes.FieldMemberIsNull{},
		redshiftdatatypes.FieldMemberLongValue{},
		redshiftdatatypes.FieldMemberStringValue{}, redshiftdatatypes.QueryRecordsMemberCSVRecords{},
	}
	s3Unions = []any{
		s3types.AnalyticsFilterMemberAnd{}, s3types.AnalyticsFilterMemberPrefix{}, s3types.AnalyticsFilterMemberTag{},
		s3types.MetricsFilterMemberAccessPointArn{}, s3types.MetricsFilterMemberAnd{},
		s3types.MetricsFilterMemberPrefix{},
		s3types.MetricsFilterMemberTag{}, s3types.ObjectEncryptionMemberSSEKMS{},
	}
	sesv2Unions = []any{
		sesv2types.SigningSchemeMemberDefaultScheme{}, sesv2types.SigningSchemeMemberSmimeScheme{},
	}
	ssmUnions = []any{
		ssmtypes.CloudConnectorConfigurationMemberAzureConfiguration{},
		ssmtypes.ConfigurationTargetsMemberSubscriptions{},
		ssmtypes.ExecutionInputsMemberAutomation{}, ssmtypes.ExecutionPreviewMemberAutomation{},
		ssmtypes.NodeTypeMemberInstance{},
	}
	xrayUnions = []any{
		xraytypes.AnnotationValueMemberBooleanValue{}, xraytypes.AnnotationValueMemberNumberValue{},
		xraytypes.AnnotationValueMemberStringValue{}, xraytypes.IndexingRuleValueMemberProbabilistic{},
		xraytypes.IndexingRuleValueUpdateMemberProbabilistic{},
	}
)
