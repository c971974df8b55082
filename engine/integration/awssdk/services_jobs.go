package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/databrew"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/emrcontainers"
	emrcontainerstypes "github.com/aws/aws-sdk-go-v2/service/emrcontainers/types"
	"github.com/aws/aws-sdk-go-v2/service/mediaconvert"
)

// jobServices run the jobs of optimized integrations, beside those that are called for much else.
var jobServices = []Service{
	{
		Name: "databrew", ID: "DataBrew", Variable: "DATABREW_ENDPOINT", Class: "DataBrew",
		Client: func(c aws.Config) any { return databrew.NewFromConfig(c) },
	},
	{
		Name: "eks", ID: "EKS", Variable: "EKS_ENDPOINT", Class: "Eks",
		Client: func(c aws.Config) any { return eks.NewFromConfig(c) },
	},
	{
		Name: "emrcontainers", ID: "EMR containers", Variable: "EMR_CONTAINERS_ENDPOINT", Class: "EmrContainers",
		Client: func(c aws.Config) any { return emrcontainers.NewFromConfig(c) },
		unions: []any{emrcontainerstypes.ContainerInfoMemberEksInfo{}, emrcontainerstypes.CredentialsMemberToken{}},
	},
	{
		Name: "mediaconvert", ID: "MediaConvert", Variable: "MEDIACONVERT_ENDPOINT", Class: "MediaConvert",
		Client: func(c aws.Config) any { return mediaconvert.NewFromConfig(c) },
	},
}
