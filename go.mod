module stepback

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/aws/aws-lambda-go v1.55.1
	github.com/aws/aws-sdk-go-v2 v1.47.6
	github.com/aws/aws-sdk-go-v2/config v1.33.14
	github.com/aws/aws-sdk-go-v2/credentials v1.20.14
	github.com/aws/aws-sdk-go-v2/feature/rds/auth v1.7.9
	github.com/aws/aws-sdk-go-v2/service/cloudwatch v1.52.8
	github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs v1.91.1
	github.com/aws/aws-sdk-go-v2/service/dynamodb v1.73.0
	github.com/aws/aws-sdk-go-v2/service/eventbridge v1.55.8
	github.com/aws/aws-sdk-go-v2/service/firehose v1.52.9
	github.com/aws/aws-sdk-go-v2/service/kinesis v1.56.10
	github.com/aws/aws-sdk-go-v2/service/kms v1.62.3
	github.com/aws/aws-sdk-go-v2/service/lambda v1.114.1
	github.com/aws/aws-sdk-go-v2/service/s3 v1.114.7
	github.com/aws/aws-sdk-go-v2/service/scheduler v1.18.2
	github.com/aws/aws-sdk-go-v2/service/secretsmanager v1.50.9
	github.com/aws/aws-sdk-go-v2/service/sfn v1.41.2
	github.com/aws/aws-sdk-go-v2/service/sns v1.47.8
	github.com/aws/aws-sdk-go-v2/service/sqs v1.52.9
	github.com/aws/aws-sdk-go-v2/service/ssm v1.81.3
	github.com/aws/aws-sdk-go-v2/service/sts v1.51.7
	github.com/aws/aws-sdk-go-v2/service/xray v1.36.25
	github.com/aws/smithy-go v1.28.8
	github.com/cockroachdb/pebble/v2 v2.1.7
	github.com/google/uuid v1.6.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/johannesboyne/gofakes3 v1.2.0
	github.com/klauspost/compress v1.20.3
	github.com/parquet-go/parquet-go v0.32.0
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/image v0.47.0
	golang.org/x/term v0.47.0
	golang.org/x/text v0.43.0
	modernc.org/sqlite v1.60.1
	pgregory.net/rapid v1.3.0
)

require (
	github.com/DataDog/zstd v1.5.7 // indirect
	github.com/RaduBerinde/axisds v0.1.0 // indirect
	github.com/RaduBerinde/btreemap v0.0.0-20250419174037-3d62b7205d54 // indirect
	github.com/andybalholm/brotli v1.1.1 // indirect
	github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.26 // indirect
	github.com/aws/aws-sdk-go-v2/feature/ec2/imds v1.20.6 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.9 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.9 // indirect
	github.com/aws/aws-sdk-go-v2/internal/v4a v1.5.9 // indirect
	github.com/aws/aws-sdk-go-v2/service/acm v1.51.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/apigateway v1.40.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/appconfig v1.44.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/applicationautoscaling v1.41.18 // indirect
	github.com/aws/aws-sdk-go-v2/service/athena v1.66.9 // indirect
	github.com/aws/aws-sdk-go-v2/service/autoscaling v1.79.3 // indirect
	github.com/aws/aws-sdk-go-v2/service/batch v1.65.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/bedrock v1.63.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/bedrockagent v1.54.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/bedrockagentruntime v1.41.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/bedrockruntime v1.63.10 // indirect
	github.com/aws/aws-sdk-go-v2/service/cloudcontrol v1.30.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/cloudformation v1.82.4 // indirect
	github.com/aws/aws-sdk-go-v2/service/cloudfront v1.73.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/codebuild v1.69.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/codepipeline v1.47.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider v1.61.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/comprehend v1.41.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/configservice v1.74.9 // indirect
	github.com/aws/aws-sdk-go-v2/service/costexplorer v1.63.10 // indirect
	github.com/aws/aws-sdk-go-v2/service/databasemigrationservice v1.64.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/databrew v1.40.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/datasync v1.59.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/ec2 v1.344.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/ecr v1.67.3 // indirect
	github.com/aws/aws-sdk-go-v2/service/ecs v1.104.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/eks v1.105.3 // indirect
	github.com/aws/aws-sdk-go-v2/service/elasticache v1.64.3 // indirect
	github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2 v1.63.7 // indirect
	github.com/aws/aws-sdk-go-v2/service/emr v1.71.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/emrcontainers v1.41.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/emrserverless v1.41.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/glue v1.172.3 // indirect
	github.com/aws/aws-sdk-go-v2/service/iam v1.64.7 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.13.24 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/checksum v1.11.10 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery v1.13.9 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/presigned-url v1.14.9 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/s3shared v1.20.9 // indirect
	github.com/aws/aws-sdk-go-v2/service/mediaconvert v1.91.4 // indirect
	github.com/aws/aws-sdk-go-v2/service/organizations v1.62.5 // indirect
	github.com/aws/aws-sdk-go-v2/service/pipes v1.24.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/polly v1.57.7 // indirect
	github.com/aws/aws-sdk-go-v2/service/rds v1.132.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/rdsdata v1.33.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/redshift v1.62.10 // indirect
	github.com/aws/aws-sdk-go-v2/service/redshiftdata v1.40.1 // indirect
	github.com/aws/aws-sdk-go-v2/service/redshiftserverless v1.35.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/rekognition v1.51.26 // indirect
	github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi v1.41.9 // indirect
	github.com/aws/aws-sdk-go-v2/service/route53 v1.70.7 // indirect
	github.com/aws/aws-sdk-go-v2/service/sagemaker v1.280.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/sagemakerruntime v1.50.1 // indirect
	github.com/aws/aws-sdk-go-v2/service/servicecatalog v1.39.17 // indirect
	github.com/aws/aws-sdk-go-v2/service/ses v1.42.7 // indirect
	github.com/aws/aws-sdk-go-v2/service/sesv2 v1.79.6 // indirect
	github.com/aws/aws-sdk-go-v2/service/signin v1.12.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/sso v1.39.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/ssoadmin v1.52.3 // indirect
	github.com/aws/aws-sdk-go-v2/service/ssooidc v1.44.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/timestreamwrite v1.35.25 // indirect
	github.com/aws/aws-sdk-go-v2/service/transcribe v1.55.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/translate v1.28.17 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/cockroachdb/crlib v0.0.0-20241112164430-1264a2edc35b // indirect
	github.com/cockroachdb/errors v1.11.3 // indirect
	github.com/cockroachdb/logtags v0.0.0-20230118201751-21c54148d20b // indirect
	github.com/cockroachdb/redact v1.1.5 // indirect
	github.com/cockroachdb/swiss v0.0.0-20260820225851-333444432258 // indirect
	github.com/cockroachdb/tokenbucket v0.0.0-20230807174530-cc333fc44b06 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/getsentry/sentry-go v0.27.0 // indirect
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/golang/protobuf v1.5.3 // indirect
	github.com/golang/snappy v0.0.5-0.20231225225746-43d5d4cd4e0e // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/matttproud/golang_protobuf_extensions v1.0.4 // indirect
	github.com/minio/minlz v1.0.1-0.20250507153514-87eb42fe8882 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.21 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/prometheus/client_golang v1.23.2 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/prometheus/common v0.66.1 // indirect
	github.com/prometheus/procfs v0.16.1 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/rogpeppe/go-internal v1.10.0 // indirect
	github.com/ryszard/goskiplist v0.0.0-20150312221310-2dfbae5fcf46 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	go.shabbyrobe.org/gocovmerge v0.0.0-20230507111327-fa4f82cfbf4d // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	golang.org/x/exp v0.0.0-20230626212559-97b1e661b5df // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	google.golang.org/protobuf v1.36.8 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
