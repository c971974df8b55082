module stepback/adaptive/lab/differential/sdk2025

go 1.26.0

require (
	github.com/aws/aws-sdk-go-v2 v1.48.0
	stepback v0.0.0
	stepback/adaptive/lab/differential v0.0.0
)

require (
	github.com/aws/smithy-go v1.28.9 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace (
	// The version before the retries of November 2026. stepback itself needs the version after.
	github.com/aws/aws-sdk-go-v2 => github.com/aws/aws-sdk-go-v2 v1.47.6
	stepback => ../../../..
	stepback/adaptive/lab/differential => ..
)
